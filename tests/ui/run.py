#!/usr/bin/env python3
"""The window under Xvfb: pictures of every panel, compared with those kept in tests/ui/references, and a real window on a real node, pressed by xdotool.

tests/ui/run.py NAME… runs those tests only. tests/ui/run.py --renew-references draws the kept pictures anew: look at each before it is committed.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "integration"))
from desktop import Desktop  # noqa: E402
from display import Display  # noqa: E402
import swarm  # noqa: E402

# Where draw_home puts the first button of a window of 1120×760 at scale 1.
PAUSE_BUTTON = (960, 126)
PANELS = 8
REFERENCES = HERE / "references"
# The pictures that are kept: each panel once dark in English and once light in Chinese, and the states that a person meets seldom.
KEPT_OF_EACH = ("-dark-en-1.png", "-light-zh-1.png")
KEPT_SELDOM = {"hardware_hardware-light-en-1.png", "given_home-light-en-1.png", "fetching_home-dark-zh-1.png", "watched_home-dark-en-1.png",
               "watched_projects-light-zh-1.png", "joining_projects-dark-en-1.png", "joining_learning-light-zh-1.png", "small_home-dark-en-1.png",
               "small_learning-light-zh-1.png", "gpu_hardware-dark-zh-1.png", "battery_hardware-light-en-1.png", "metered_hardware-dark-en-1.png",
               "metered_home-light-zh-1.png", "battery_home-dark-zh-1.png", "text_learning-dark-en-1.png", "code_machines-dark-zh-1.png", "first1_-light-en-1.png", "nobody_home-dark-en-1.png",
               "disk-full_home-dark-zh-1.png", "crashed_home-light-en-1.png", "battery-small_home-light-en-1.25.png"}
MOST_KEPT_BYTES = 4 << 20


def until(seconds, ask):
    """What `ask` returns once it is true; None after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.25)
    return None


def is_kept(name):
    return name in KEPT_SELDOM or ("_" not in name and name.endswith(KEPT_OF_EACH))


def smaller(png):
    """The same picture, compressed as well as zlib can."""
    out, body, at = png[:8], b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        chunk = png[at:at + 12 + size]
        at += len(chunk)
        if kind == b"IDAT":
            body += chunk[8:-4]
            continue
        if kind == b"IEND":
            packed = b"IDAT" + zlib.compress(zlib.decompress(body), 9)
            out += struct.pack(">I", len(packed) - 4) + packed + struct.pack(">I", zlib.crc32(packed))
        out += chunk
    return out


def renew_references():
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as out:
        subprocess.run([HERE / "screenshots", out], check=True, timeout=600)
        kept = {f.name: smaller(f.read_bytes()) for f in sorted(pathlib.Path(out).glob("*.png")) if is_kept(f.name)}
    whole = sum(map(len, kept.values()))
    if whole > MOST_KEPT_BYTES:
        raise SystemExit(f"{len(kept)} pictures of {whole} bytes, at most {MOST_KEPT_BYTES} are kept: take some out of KEPT_SELDOM")
    shutil.rmtree(REFERENCES, ignore_errors=True)
    REFERENCES.mkdir()
    for name, png in kept.items():
        (REFERENCES / name).write_bytes(png)
    print(f"{len(kept)} pictures, {whole} bytes, in {REFERENCES}")


def pictures():
    # Kept where one differs, so that a person can look at it.
    out = tempfile.mkdtemp(prefix="waggle-ui-")
    drawn = subprocess.run([HERE / "screenshots", out, "--references", REFERENCES], stdout=subprocess.PIPE, text=True, timeout=600)
    assert drawn.returncode == 0, f"a picture differs from tests/ui/references; those drawn now lie in {out}"
    try:
        compared = sum(int(n) for n in re.findall(r"(\d+) compared", drawn.stdout))
        kept = len(list(REFERENCES.glob("*.png")))
        assert compared == kept > 0, f"{compared} pictures were compared, {kept} are kept"
        files = list(pathlib.Path(out).glob("*.png"))
        for theme in ("dark", "light"):
            for language in ("en", "zh"):
                for scale in ("1", "2"):
                    found = [f for f in files if f.name.count("_") == 0 and f.name.endswith(f"-{theme}-{language}-{scale}.png")]
                    assert len(found) == PANELS, (theme, language, scale, found)
        # An empty panel would compress to next to nothing.
        small = [f.name for f in files if f.stat().st_size < 8000]
        assert not small, small
    finally:
        shutil.rmtree(out)


def pictures_can_fail():
    """Another word, and one card less, are both seen."""
    shot = pathlib.Path(swarm.WAGGLE).parent / "tests" / "ui_shot"
    recorded = (HERE / "snapshots" / "training.jsonl").read_text()
    changes = [("home", '"title":"Clothes classifier"', '"title":"Clothes sorter"'), ("learning", '"learning_rate":', '"learning_rat":')]
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as out, Display() as display:
        environment = {**os.environ, "DISPLAY": display.name, "TZ": "UTC", "LIBGL_ALWAYS_SOFTWARE": "1"}
        for panel, before, after in changes:
            assert before in recorded, before
            changed = pathlib.Path(out) / "changed.jsonl"
            changed.write_text(recorded.replace(before, after))
            drawn = subprocess.run([shot, out, changed, "--panel", panel, "--theme", "dark", "--language", "en", "--scale", "1", "--references", REFERENCES],
                                   env=environment, capture_output=True, text=True, timeout=120)
            assert drawn.returncode == 1 and "differ from the kept picture" in drawn.stderr, (panel, drawn)


def seldom_letters():
    """Letters that are drawn into the atlas only once a text has them are themselves, and no replacement: two such names look different."""
    shot = pathlib.Path(swarm.WAGGLE).parent / "tests" / "ui_shot"
    recorded = [json.loads(line) for line in (HERE / "snapshots" / "training.jsonl").read_text().splitlines()]
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as out, Display() as display:
        out = pathlib.Path(out)
        environment = {**os.environ, "DISPLAY": display.name, "TZ": "UTC", "LIBGL_ALWAYS_SOFTWARE": "1"}
        for block, names in {"latin": ("ŁŐŘŻŁŐŘŻ", "ĘĢĄŞĘĢĄŞ"), "greek": ("ΞΠΣΞΠΣΞΠ", "ΔΨΘΔΨΘΔΨ"), "cyrillic": ("ШЩЖШЩЖШЩ", "БФЮБФЮБФ")}.items():
            first = out / f"{block}-first"
            for name, against in ((names[0], None), (names[0], first), (names[1], first)):
                for snapshot in recorded:
                    for peer in snapshot["peers"]:
                        peer["agent"] = name
                (out / "named.jsonl").write_text("".join(json.dumps(snapshot, ensure_ascii=False) + "\n" for snapshot in recorded))
                into = first if against is None else out / f"{block}-then"
                into.mkdir(exist_ok=True)
                drawn = subprocess.run([shot, into, out / "named.jsonl", "--panel", "swarm", "--theme", "dark", "--language", "en", "--scale", "1",
                                        *(["--references", against] if against else [])], env=environment, capture_output=True, text=True, timeout=120)
                same = "differ from the kept picture" not in drawn.stderr
                assert same == (name == names[0]) and drawn.returncode == (0 if same else 1), (block, name, drawn)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class OnNode:
    """A node that trains a small task, and a window onto it, under xdotool. Pressed by the keyboard, the window tells which control has it."""

    MOST_STOPS = 120  # of Tab, until a control is given up

    def __init__(self, folder, display):
        self.node = swarm.Waggle("publish", swarm.lay_out_task(folder / "task"), "--run", data_dir=folder / "node")
        self.display = display
        self.environment = {"DISPLAY": display.name, "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C"}
        self.window = None
        self.id = None

    def state(self):
        return (self.node.status()["tasks"] or [{}])[0].get("state")

    def setting(self, name):
        return next((s["value"] for s in self.node.status()["settings"] if s["name"] == name), None)

    def comes_to(self, state, why, seconds=60):
        assert until(seconds, lambda: self.state() == state), f"{why}, but the task is {self.state()}, not {state}"

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60).stdout.strip()

    def visible(self):
        return self.xdotool("search", "--onlyvisible", "--name", "^Waggle$").splitlines()

    def start(self, **variables):
        self.window = swarm.Waggle("window", data_dir=self.node.data_dir, extra=(), env={**self.environment, **variables})

    def open(self, **variables):
        self.start(**variables)
        found = until(90, self.visible)
        assert found, "no window appears"
        self.id = found[0]
        time.sleep(2)  # the first snapshot comes within one second
        self.xdotool("windowfocus", self.id)  # no window manager here gives it the keys
        time.sleep(1)

    def end(self):
        """What the window says of its frames."""
        assert self.window.end(seconds=20) == 0
        return self.window.wait_for("window", 5)

    def close(self):
        """Ends all that is left of it."""
        if self.window is not None:
            self.window.kill()
        self.node.end()

    def click(self, at):
        self.xdotool("mousemove", "--window", self.id, *at)
        time.sleep(0.3)
        self.xdotool("click", 1)

    def press(self, key, times=1):
        for _ in range(times):
            self.xdotool("key", key)
            time.sleep(0.3)

    def type(self, words):
        self.xdotool("type", "--delay", "60", words)
        time.sleep(0.3)

    def focused(self):
        return next((e["control"] for e in reversed(self.window.events) if e.get("event") == "focus"), "")

    def to(self, control, key="Tab"):
        """Presses Tab until this control has the keyboard."""
        passed = []
        while len(passed) < self.MOST_STOPS:
            before = self.focused()
            self.press(key)
            until(2, lambda: self.focused() not in (before, ""))
            if self.focused() == control:
                return
            passed.append(self.focused())
        raise AssertionError(f"{key} does not reach {control}, but {sorted(set(passed))}")

    def panel(self, number, control):
        self.press(f"ctrl+{number}")
        time.sleep(0.5)
        self.to(control)


@contextlib.contextmanager
def on_node():
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as folder, Display() as display:
        on = OnNode(pathlib.Path(folder), display)
        try:
            on.node.wait_for("published", 120)
            on.comes_to("training", "a node was started", 180)
            yield on
        finally:
            on.close()


def real_window():
    with on_node() as on:
        on.open()
        on.click(PAUSE_BUTTON)
        on.comes_to("paused", "Pause was pressed")
        time.sleep(2)  # until the button says Resume
        on.click(PAUSE_BUTTON)
        on.comes_to("training", "Resume was pressed")
        on.xdotool("mousemove", "--window", on.id, 600, 700)
        before = processor_seconds(on.window.process.pid)
        time.sleep(10)
        idle = (processor_seconds(on.window.process.pid) - before) / 10
        times = on.end()
        assert times["drawn"] > 0, times
        assert on.state() == "training", "the node must outlive the window"
        print(f"untouched, drawing by software: {100 * idle:.1f} % of a core; {times}")


def untouched():
    """A window on a paused node draws hardly anything while nobody touches it: clocks go on, but they are not what one waits for."""
    with on_node() as on:
        subprocess.run([swarm.WAGGLE, "pause", "--data-dir", on.node.data_dir], check=True, timeout=30, stdout=subprocess.DEVNULL)
        on.comes_to("paused", "it was paused")
        on.start()
        time.sleep(30)
        times = on.end()
        # Six lively seconds with a look each quarter of one, and a few frames for clocks.
        assert 0 < times["drawn"] <= 16 and times["laid_out"] <= 60, times


def keyboard():
    """Controls of each kind are reached by Tab and pressed by the space bar: pause, power, a slider, a toggle, a field, a link, and leaving, which asks first."""
    with on_node() as on:
        on.open()
        on.panel(1, "run")
        for wanted in ("paused", "training", "paused"):  # the focus stays on the one button
            on.press("space")
            on.comes_to(wanted, "pressed")
            time.sleep(2)
        on.to("power/0")
        on.press("space")
        assert until(20, lambda: on.setting("power") == '"light"'), on.setting("power")
        on.to("run", "shift+Tab")
        on.press("space")
        on.comes_to("training", "Resume was pressed")
        on.panel(4, "cpu_share")
        for key in ("space", "Left", "Left", "space"):
            on.press(key)
        assert until(20, lambda: on.setting("cpu_share") == "90"), on.setting("cpu_share")
        on.panel(8, "team")
        on.type("Bees")
        on.press("Return")
        assert until(20, lambda: on.setting("team") == '"Bees"'), on.setting("team")
        on.panel(8, "client")
        on.press("space")
        assert until(20, lambda: on.setting("client") == "true"), on.setting("client")
        on.panel(5, "link")
        on.type("waggle:nobody_has_this?peer=/ip4/127.0.0.1/tcp/9")
        on.press("Return")
        looked = lambda: [k["prefix"] for k in on.node.status()["known_tasks"] if k["source"] == "link"]  # noqa: E731
        assert until(20, lambda: looked() == ["nobody_has_this"]), looked()
        on.panel(7, "search")
        on.type("connected")
        assert on.window.process.poll() is None
        on.panel(5, "leave")
        on.press("space", 2)  # asks, and then stays
        time.sleep(2)
        assert on.state() == "training", "the project was left without being asked"
        on.press("space")  # asks
        on.to("sure", "shift+Tab")
        on.press("space")
        assert until(90, lambda: on.node.process.poll() is not None), "leaving was confirmed, but the node goes on with its only task"
        on.end()


def tray():
    """While its window is hidden, a node trains on, and the tray's menu pauses it, resumes it, shows the window again and ends both."""
    with on_node() as on, Desktop() as desktop:
        assert on.node.end() == 0
        # The window's own node, with nobody else around.
        (on.node.data_dir / "waggle.toml").write_text('host = "127.0.0.1"\nlan = false\nthreads = 1\n[window]\nfirst_run_done = true\n')
        on.open(DBUS_SESSION_BUS_ADDRESS=desktop.address)
        process = on.window.process
        assert until(60, (on.node.data_dir / "api.sock").exists), "the window started no node"
        on.comes_to("waiting", "the window was opened")
        on.panel(5, "train")
        on.press("space")
        on.comes_to("training", "Train was pressed", 120)
        assert until(20, lambda: "RegisterStatusNotifierItem" in desktop.calls), "the tray got no icon"

        def hide():
            on.display.ask_to_close(on.id)
            assert until(20, lambda: not on.visible()), "the window was closed, but is there"
            assert process.poll() is None, "the window was closed, and its node ended"

        hide()
        assert until(20, lambda: "Notify" in desktop.calls), "nothing says that it goes on"
        for words, wanted in (("Pause", "paused"), ("Resume", "training")):
            assert until(20, lambda: words in desktop.menu(process.pid)), f"the menu has no {words}, but {list(desktop.menu(process.pid))}"
            desktop.press(process.pid, words)
            on.comes_to(wanted, f"{words} was pressed in the tray")
        assert not on.visible(), "the window came back by itself"
        desktop.press(process.pid, "Open Waggle")
        assert until(20, on.visible), "Open was pressed in the tray, but no window appears"
        hide()
        desktop.press(process.pid, "Quit")
        assert until(60, lambda: process.poll() is not None), "Quit was pressed in the tray, but it runs on"
        assert process.returncode == 0, process.returncode
        assert desktop.calls.count("Notify") == 1, "that it goes on is said once"
        assert swarm.run("status", "--data-dir", on.node.data_dir)[0] != 0, "a node answers still"


def first_run():
    """A first start computes nothing and is seen by nobody until its three screens were answered, by the keyboard alone; a second one asks nothing."""
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as folder, Display() as display:
        folder = pathlib.Path(folder) / "fresh"
        environment = {**os.environ, "DISPLAY": display.name, "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C"}
        command = [swarm.WAGGLE, "window", "--data-dir", folder]
        socket = folder / "api.sock"

        def xdotool(*words):
            return subprocess.run(["xdotool", *map(str, words)], env=environment, capture_output=True, text=True, timeout=20).stdout.strip()

        def appears():
            found = until(90, lambda: xdotool("search", "--onlyvisible", "--name", "^Waggle$"))
            assert found, "no window appears"
            time.sleep(2)
            xdotool("windowfocus", found.splitlines()[0])  # no window manager here gives it the keys
            time.sleep(1)

        window = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        try:
            appears()
            time.sleep(3)
            assert not socket.exists(), "a node runs before anybody said yes"
            assert not (folder / "identity.key").exists(), "an identity was made before anybody said yes"
            for keys in ("alt+Right", "alt+Left", "alt+Right", "alt+Right", "Return"):
                xdotool("key", keys)
                time.sleep(1)
            assert until(60, socket.exists), "nothing runs although the person said yes"
            text = (folder / "waggle.toml").read_text()
            assert "[window]\nfirst_run_done = true\n" in text, text
            done = subprocess.run([swarm.WAGGLE, "set", "power", "light", "--data-dir", folder, "--json"], capture_output=True, text=True, timeout=20)
            assert done.returncode == 0 and json.loads(done.stdout)["ok"], done
            window.send_signal(signal.SIGTERM)
            assert window.wait(20) == 0
            window = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
            assert until(60, socket.exists), "asked a second time"
            window.send_signal(signal.SIGTERM)
            assert window.wait(20) == 0
        finally:
            if window.poll() is None:
                window.kill()


def main():
    if sys.argv[1:] == ["--renew-references"]:
        renew_references()
        return 0
    wanted = sys.argv[1:]
    tests = [test for test in (pictures, pictures_can_fail, seldom_letters, first_run, real_window, untouched, keyboard, tray) if not wanted or test.__name__ in wanted]
    counts = {"passed": 0, "failed": 0}
    for test in tests:
        try:
            test()
            counts["passed"] += 1
            print(f"ok    {test.__name__}", flush=True)
        except Exception as failure:  # noqa: BLE001
            counts["failed"] += 1
            print(f"FAIL  {test.__name__}: {failure!r}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
