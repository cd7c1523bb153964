#!/usr/bin/env python3
"""The window under Xvfb: pictures of every panel, compared with those kept in tests/ui/references if there are any, and a real window on a real node, pressed by xdotool."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "integration"))
from display import Display  # noqa: E402
import swarm  # noqa: E402

# Where draw_home puts the first button of a window of 1120×760 at scale 1.
PAUSE_BUTTON = (960, 126)
PANELS = 8


def until(seconds, ask):
    """What `ask` returns once it is true; None after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.25)
    return None


def pictures():
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as out:
        subprocess.run([HERE / "screenshots", out, "--references", HERE / "references"], check=True, timeout=600)
        files = list(pathlib.Path(out).glob("*.png"))
        for theme in ("dark", "light"):
            for language in ("en", "zh"):
                for scale in ("1", "2"):
                    found = [f for f in files if f.name.count("_") == 0 and f.name.endswith(f"-{theme}-{language}-{scale}.png")]
                    assert len(found) == PANELS, (theme, language, scale, found)
        # An empty panel would compress to next to nothing.
        small = [f.name for f in files if f.stat().st_size < 8000]
        assert not small, small


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def real_window():
    with tempfile.TemporaryDirectory(prefix="waggle-ui-") as folder, Display() as display:
        folder = pathlib.Path(folder)
        node = swarm.Waggle("publish", swarm.lay_out_task(folder / "task"), "--run", data_dir=folder / "node")
        window = None
        try:
            state = lambda: (node.status()["tasks"] or [{}])[0].get("state")  # noqa: E731
            node.wait_for("published", 120)
            assert until(180, lambda: state() == "training"), "the node does not train"
            environment = {**os.environ, "DISPLAY": display.name, "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C"}
            window = subprocess.Popen([swarm.WAGGLE, "window", "--data-dir", folder / "node", "--json"], env=environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

            def xdotool(*words):
                return subprocess.run(["xdotool", *map(str, words)], env=environment, capture_output=True, text=True, timeout=20).stdout.strip()

            found = until(30, lambda: xdotool("search", "--onlyvisible", "--name", "^Waggle$"))
            assert found, "no window appears"
            name = found.splitlines()[0]
            time.sleep(3)  # the first snapshot comes within one second

            def press(at):
                xdotool("mousemove", "--window", name, *at)
                time.sleep(0.3)
                xdotool("click", 1)

            press(PAUSE_BUTTON)
            assert until(30, lambda: state() == "paused"), f"Pause was pressed, but the task is {state()}"
            time.sleep(2)  # until the button says Resume
            press(PAUSE_BUTTON)
            assert until(30, lambda: state() == "training"), f"Resume was pressed, but the task is {state()}"
            xdotool("mousemove", "--window", name, 600, 700)
            before = processor_seconds(window.pid)
            time.sleep(10)
            idle = (processor_seconds(window.pid) - before) / 10
            window.send_signal(signal.SIGTERM)
            out, _ = window.communicate(timeout=20)
            times = json.loads(out.splitlines()[-1])
            assert window.returncode == 0 and times["drawn"] > 0, (window.returncode, times)
            assert state() == "training", "the node must outlive the window"
            print(f"untouched, drawing by software: {100 * idle:.1f} % of a core; {times}")
        finally:
            if window is not None and window.poll() is None:
                window.kill()
            node.end()


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
    counts = {"passed": 0, "failed": 0}
    for test in (pictures, first_run, real_window):
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
