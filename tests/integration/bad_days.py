"""Days that go wrong and must end well: copies, sleepers, wrong clocks, full disks, torn files, floods, other models."""
import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import threading
import time

from harness import Skip, averaged_with, publisher, scenario, start
from swarm import ROOT, lay_out_task, run

HERE = pathlib.Path(__file__).resolve().parent


def address_of(process):
    return process.wait_for("started", 30)["addresses"][0]


def eventually(seconds, what, test):
    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.3)


def copy_of(source, target):
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.sock", "lock"))


@scenario(kind="light")
def a_copied_data_directory_gets_an_identity_of_its_own(folder):
    seed = start("node", data_dir=folder / "seed")
    seed_address = address_of(seed)
    original = start("node", "--peer", seed_address, data_dir=folder / "original")
    me = original.wait_for("started", 20)["peer_id"]
    eventually(20, "the original has met the seed", lambda: original.status().get("peers"))
    # After a crash, with its old address in the seed's book, it stays who it is.
    original.kill()
    original = start("node", "--peer", seed_address, data_dir=folder / "original")
    assert original.wait_for("started", 20)["peer_id"] == me
    eventually(20, "the original has met the seed again", lambda: original.status().get("peers"))

    copy_of(folder / "original", folder / "copy")
    copy = start("node", data_dir=folder / "copy")
    mine = copy.wait_for("started", 20)["peer_id"]
    assert mine != me
    said = copy.wait_for("notice", 5, lambda e: "copy" in e["text"])["text"]
    assert me in said and mine in said, said
    for name in ("identity.key", "record.key"):
        assert (folder / "copy" / name).read_bytes() != (folder / "original" / name).read_bytes(), name
        assert (folder / "copy" / name).stat().st_mode & 0o777 == 0o600, name
    assert original.status()["peer_id"] == me
    # It keeps the new one, though the original still runs; and so does the original.
    copy.kill()
    copy = start("node", data_dir=folder / "copy")
    assert copy.wait_for("started", 20)["peer_id"] == mine

    # A copy that does not know where the original listens hears of it from the seed.
    copy_of(folder / "original", folder / "far")
    with sqlite3.connect(folder / "far" / "waggle.sqlite3") as database:
        database.execute("DELETE FROM settings")
        database.execute("DELETE FROM peers")
    far = start("node", "--peer", seed_address, data_dir=folder / "far")
    assert far.wait_for("started", 20)["peer_id"] not in (me, mine)
    # With the original gone, a copy made earlier is nobody's double.
    copy_of(folder / "original", folder / "heir")
    assert original.end() == 0
    heir = start("node", "--peer", seed_address, data_dir=folder / "heir")
    assert heir.wait_for("started", 20)["peer_id"] == me


@scenario(kind="light")
def a_settings_file_is_followed_and_a_bad_one_is_named(folder):
    data = folder / "a"
    data.mkdir()
    (data / "waggle.toml").write_text('port = 38741\nhost = "127.0.0.1"\nthreads = 1\n')
    node = start("node", data_dir=data, extra=())
    assert "/ip4/127.0.0.1/tcp/38741/" in address_of(node)
    node.kill()
    # Flags beat the file.
    node = start("node", "--port", "38743", data_dir=data, extra=())
    assert "/tcp/38743/" in address_of(node)
    node.kill()
    bad = 'port = 38745\nthraeds = 1\n'
    (data / "waggle.toml").write_text(bad)
    node = start("node", data_dir=data)
    assert "/tcp/38745/" not in address_of(node)
    said = node.wait_for("notice", 5, lambda e: "waggle.toml" in e["text"])["text"]
    assert "waggle.toml:2:1:" in said and "thraeds" in said, said
    assert (data / "waggle.toml").read_text() == bad
    assert any("waggle.toml:2:1:" in n for n in node.status()["notices"])
    node.kill()
    code, out, _ = run("doctor", "--data-dir", data)
    assert "waggle.toml:2:1:" in out, out


@scenario(kind="light")
def every_command_explains_itself(folder):
    code, out, _ = run("--help")
    commands = [line.split()[0] for line in out.split("Subcommands:")[1].split("\n\n")[0].splitlines() if line.strip()]
    assert len(commands) >= 13, commands
    for command in commands:
        code, out, _ = run(command, "--help")
        assert code == 0 and "Examples:" in out and f"waggle {command}" in out.split("Examples:")[1], (command, out)


@scenario(kind="light")
def interrupting_twice_leaves_at_once(folder):
    node = start("node", "--peer", "/ip4/127.0.0.1/tcp/9/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA", data_dir=folder / "a")
    node.wait_for("started", 20)
    # Stopped, it sees both at once when it goes on; what it would have finished does not matter.
    os.kill(node.process.pid, signal.SIGSTOP)
    os.kill(node.process.pid, signal.SIGINT)
    os.kill(node.process.pid, signal.SIGTERM)
    begin = time.monotonic()
    os.kill(node.process.pid, signal.SIGCONT)
    assert node.process.wait(timeout=10) == 130
    assert time.monotonic() - begin < 3


@scenario
def interrupting_twice_leaves_a_training_at_once(folder):
    first, _ = publisher(folder)
    first.wait_for("epoch", 90)
    trainers = first.trainers()
    first.process.send_signal(signal.SIGINT)
    time.sleep(0.15)
    first.process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert first.process.wait(timeout=10) == 130
    assert time.monotonic() - begin < 2
    eventually(5, "its trainer is gone", lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in trainers))


@scenario
def a_target_accuracy_ends_the_run_and_the_swarm_can_be_watched(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("epoch", 120, averaged_with(2))
    watch = start("monitor", "stripes", "--peer", address_of(first), "--count", "3", "--every", "1", data_dir=folder / "watch")
    seen = watch.wait_for("swarm", 30, lambda e: len(e["peers"]) == 2)
    assert seen["epoch"] > 0 and {p["peer"] for p in seen["peers"]} == {first.status()["peer_id"], second.status()["peer_id"]}
    assert watch.process.wait(timeout=30) == 0
    third = start("run", link, "--until-accuracy", "0.9", data_dir=folder / "third")
    assert third.process.wait(timeout=150) == 0
    third.reader.join(timeout=5)
    final = [e for e in third.events if e.get("event") == "evaluation" and e["whole"]]
    assert final and final[-1]["accuracy"] >= 0.85 and max(e["accuracy"] for e in final) >= 0.9, final
    # An unreachable swarm is said, not waited for without end.
    first.kill()
    code, out, err = run("monitor", "stripes", "--peer", address_of(first), "--count", "1", "--data-dir", folder / "late", "--host", "127.0.0.1", seconds=90)
    assert code == 1 and err, (code, out, err)


def stop_all(process):
    for pid in [process.process.pid, *process.trainers()]:
        os.kill(pid, signal.SIGSTOP)


def go_on(process):
    for pid in [*process.trainers(), process.process.pid]:
        os.kill(pid, signal.SIGCONT)


@scenario(kind="alone")
def a_machine_that_stands_still_for_30_seconds_rejoins(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    third = start("run", link, data_dir=folder / "third")
    for p in (first, second, third):
        p.wait_for("epoch", 120, averaged_with(3))
    time.sleep(5)
    usual = [e["seconds"] for e in first.events if e.get("event") == "epoch"][-8:]
    stop_all(third)
    mark = first.mark()
    time.sleep(30)
    during = [e for e in first.events[mark:] if e.get("event") == "epoch"]
    slow_from = max(3.0, 5 * statistics.median(usual))
    slow = [e for e in during if e["seconds"] > slow_from]
    # Unlike a killed one its connection lives on: another may have asked it to lead, or joined its group.
    assert len(slow) <= 2, f"slowed more than two rounds (usually {usual}): {slow}"
    assert sum(e["averaged"] for e in during) >= len(during) - 2 > 3, [(e["averaged"], e["why"]) for e in during]
    mark = third.mark()
    go_on(third)
    # A round that it stood still in may still end, with an epoch of long ago.
    reached = during[-1]["epoch"]
    third.wait_for("epoch", 90, lambda e: e["epoch"] > reached and averaged_with(3)(e), since=mark)


def clock_shim(folder):
    """A library that moves the wall clock (and only it) by $CLOCK_OFF seconds."""
    library = folder / "clock.so"
    done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "clock_off.c"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return lambda seconds: {"LD_PRELOAD": str(library), "CLOCK_OFF": str(seconds)}


@scenario
def clocks_ten_minutes_off_train_along(folder):
    off = clock_shim(folder)
    # Three peers whose clocks agree: fewer could not tell whose is wrong.
    seed = start("node", data_dir=folder / "seed")
    seed_address = address_of(seed)
    other = start("node", "--peer", seed_address, data_dir=folder / "other")
    toml = lay_out_task(folder / "task")
    first = start("publish", toml, "--run", "--peer", seed_address, "--peer", address_of(other), data_dir=folder / "first")
    link = first.wait_for("published", 120)["link"]
    late = start("run", link, "--peer", seed_address, env=off(-595), data_dir=folder / "late")
    early = start("run", link, "--peer", seed_address, env=off(595), data_dir=folder / "early")
    assert abs(late.wait_for("started", 30)["time"] - time.time() + 595) < 60, "the clock was not moved"
    for p in (first, late, early):
        p.wait_for("epoch", 150, averaged_with(3))
    for p, sign in ((late, 1), (early, -1)):
        offset = p.status()["clock_offset"]
        assert abs(offset - sign * 595) < 5, offset
        code, out, _ = run("doctor", "--data-dir", p.data_dir)
        clock = next(line for line in out.splitlines() if " clock " in line)
        assert clock.startswith("warning") and "hivemind peers accept 3 s" in clock, clock


@contextlib.contextmanager
def small_disk(mebibytes, mount_point):
    """A disk of its own at this path for as long as the block lasts."""
    if os.geteuid() != 0:
        raise Skip("a small disk needs root")
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", mount_point], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", mount_point], check=True)


def resize(mount_point, mebibytes):
    subprocess.run(["mount", "-o", f"remount,size={mebibytes}m", mount_point], check=True)


def fill(mount_point, filler, leave):
    """Writes until only so many bytes are free; others may write there at the same time."""
    with open(filler, "wb", buffering=0) as file:
        while (free := os.statvfs(mount_point)) and free.f_bavail * free.f_frsize > leave:
            try:
                file.write(bytes(min(1 << 20, free.f_bavail * free.f_frsize - leave)))
            except OSError:
                break


def has_need_have_and_path(text, path):
    words = text.replace(",", "").split()
    return "needs" in words and "free" in words and str(path) in text and sum(w.isdigit() for w in words) >= 2


@scenario
def a_full_disk_pauses_and_room_resumes(folder):
    first, link = publisher(folder, width=24)
    first.wait_for("epoch", 90)
    data = folder / "second"
    with small_disk(1, data):
        fill_up_and_make_room(first, link, data)


@scenario
def who_waits_for_room_may_finish(folder):
    first, link = publisher(folder, width=24)
    first.wait_for("epoch", 90)
    data = folder / "second"
    with small_disk(1, data):
        second = start("run", link, data_dir=data)
        second.wait_for("state", 60, lambda e: e["state"] == "paused")
        assert run("finish", "--data-dir", data)[0] == 0
        assert second.process.wait(timeout=20) == 0, second.text()


def fill_up_and_make_room(first, link, data):
    second = start("run", link, data_dir=data)
    said = second.wait_for("state", 60, lambda e: e["state"] == "paused")
    assert has_need_have_and_path(said["text"], data), said
    # A person's pause stands above it, through the next tries.
    paused_by = lambda: second.status()["tasks"][0]["paused_by"]  # noqa: E731
    assert paused_by() == "disk", paused_by()
    assert run("pause", "--data-dir", data)[0] == 0
    eventually(10, "the person's pause", lambda: paused_by() == "you")
    time.sleep(6)
    assert paused_by() == "you", paused_by()
    assert run("resume", "--data-dir", data)[0] == 0
    eventually(10, "the full disk again", lambda: paused_by() == "disk")
    assert second.process.poll() is None
    resize(data, 32)
    second.wait_for("fetch", 60, lambda e: e["done"] == e["total"] > 0)
    second.wait_for("epoch", 90, averaged_with(2))
    for blob in data.glob("blobs/??/*"):
        assert blob.read_bytes() == (first.data_dir / blob.relative_to(data)).read_bytes(), blob

    # Full again when it is time to save.
    eventually(30, "a first checkpoint", lambda: list(data.glob("checkpoints/*")))
    def checkpoints():
        return {p.name: p.read_bytes() for p in data.glob("checkpoints/*")}

    filler = data / "filler"
    mark = second.mark()
    fill(data, filler, leave=256 << 10)
    said = second.wait_for("state", 100, lambda e: e["state"] == "paused", since=mark)
    assert has_need_have_and_path(said["text"], data), said
    kept = checkpoints()
    assert kept, "the last checkpoint is gone"
    others = first.mark()
    first.wait_for("epoch", 60, lambda e: e["seconds"] < 10, since=others)
    at = second.epoch()
    time.sleep(3)
    assert second.epoch() == at, "it trains although nothing can be saved"
    assert checkpoints() == kept, "a checkpoint was harmed"
    filler.unlink()
    second.wait_for("state", 30, lambda e: "room again" in e["text"], since=mark)
    second.wait_for("epoch", 90, averaged_with(2), since=second.mark())
    assert second.end(signal.SIGTERM) == 0


@scenario
def torn_files_are_noticed_and_fetched_again(folder):
    first, link = publisher(folder, target=512)  # epochs longer than a start, whatever else runs here
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("epoch", 120, averaged_with(2))
    assert second.end(signal.SIGTERM) == 0
    data = folder / "second"
    blobs = sorted(data.glob("blobs/??/*"), key=lambda p: p.stat().st_size)
    whole = {p: p.read_bytes() for p in blobs}
    assert len(blobs) == 5, blobs
    blobs[-1].write_bytes(whole[blobs[-1]][:1000])
    flipped = bytearray(whole[blobs[-2]])
    flipped[len(flipped) // 2] ^= 1
    blobs[-2].write_bytes(flipped)
    blobs[0].unlink()
    mark_of_first = first.mark()
    second = start("run", link, data_dir=data)
    second.wait_for("epoch", 90, averaged_with(2))
    assert {p: p.read_bytes() for p in blobs} == whole
    assert second.text().count("is torn") >= 2, second.text()
    first.wait_for("epoch", 60, averaged_with(2), since=mark_of_first)
    second.kill()

    # The database: its first page, then garbage from end to end.
    for damage in ("first page", "all"):
        database = data / "waggle.sqlite3"
        content = bytearray(database.read_bytes())
        reach = 4096 if damage == "first page" else len(content)
        content[:reach] = hashlib.shake_256(damage.encode()).digest(reach)
        database.write_bytes(content)
        for log in data.glob("waggle.sqlite3-*"):
            log.unlink()
        second = start("run", link, data_dir=data)
        said = second.wait_for("notice", 30, lambda e: "waggle.sqlite3" in e["text"])["text"]
        second.wait_for("epoch", 90, averaged_with(2))
        assert {p: p.read_bytes() for p in blobs} == whole, damage
        assert second.end(signal.SIGTERM) == 0, said


@scenario
def losses_that_are_not_finite_are_rolled_back_and_named(folder):
    # Each step multiplies the weights by a thousand, until they leave the range of floats.
    first, _ = publisher(folder, rate=1000.0, decay=1.0)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and "last good state" not in first.text():
        time.sleep(0.5)
    assert "not finite" in first.text() and "back to the last good state" in first.text(), first.text()
    assert first.process.poll() is None
    assert first.end(signal.SIGTERM) == 0
    code, out, err = run("export", "--data-dir", first.data_dir, "--to", folder / "w.safetensors", "--json")
    assert code == 0, err
    weights = (folder / "w.safetensors").read_bytes()
    body = memoryview(weights)[8 + int.from_bytes(weights[:8], "little"):]
    values = body[:len(body) // 4 * 4].cast("f")
    assert all(v == v and abs(v) != float("inf") for v in values), "not finite on disk"


@scenario
def a_peer_with_another_model_is_refused_in_words(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    for p in (first, second):
        p.wait_for("epoch", 120, averaged_with(2))
    toml = lay_out_task(folder / "other", width=16)
    other = start("publish", toml, "--run", "--force", "--peer", address_of(first), data_dir=folder / "third")
    other.wait_for("training", 120)
    mark = first.mark()
    eventually(60, "it is told why", lambda: "another model" in other.text())
    time.sleep(10)
    assert any("another model" in why for why in other.status()["tasks"][0]["ignored_peers"]), other.status()["tasks"]
    after = [e for e in first.events[mark:] if e.get("event") == "epoch"]
    good = [e for e in after if e["averaged"] and e["group_size"] == 2]
    assert len(after) > 2 and len(good) >= len(after) - 2, [(e["averaged"], e["group_size"], e["why"]) for e in after]
    assert not any(e["averaged"] and e["group_size"] > 1 for e in other.events if e.get("event") == "epoch"), other.events[-3:]


@scenario(kind="light")
def started_in_the_same_instant_they_are_one_swarm(folder):
    # Everybody knows one other, in a ring, and nobody is there yet.
    names = ("a", "b", "c", "d")
    peers = {}
    for name in names:
        node = start("node", data_dir=folder / name)
        peers[name] = address_of(node)
        node.kill()
    for attempt in range(4):
        begin = time.monotonic()
        nodes = [start("node", "--peer", peers[names[(i + 1) % 4]], data_dir=folder / name) for i, name in enumerate(names)]
        assert time.monotonic() - begin < 0.5, "this machine is too slow to start four at once"
        for node in nodes:
            node.wait_for("started", 30)
        eventually(30, f"attempt {attempt}: all know all", lambda: all(n.status()["dht_table"] == 3 for n in nodes))
        for node in nodes:
            node.kill()


@scenario
def four_volunteers_in_the_same_instant_train_together(folder):
    first, link = publisher(folder)
    first.wait_for("epoch", 90)
    begin = time.monotonic()
    others = [start("run", link, data_dir=folder / f"v{i}") for i in range(3)]
    assert time.monotonic() - begin < 0.5
    for p in (first, *others):
        p.wait_for("epoch", 180, averaged_with(4))


def resident(process):
    """MiB of memory that the node (not its trainer) holds."""
    for line in pathlib.Path(f"/proc/{process.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def raw_flood(port, seconds):
    """Sockets that say nothing, drip, begin handshakes without an end, or send rubbish and huge lengths."""
    hello = b"\x13/multistream/1.0.0\n"
    openings = [b"", b"\x13", hello, hello + b"\x07/noise\n", hello + b"\x07/noise\n\xff\xff", hello + b"\x07/noise\n\x00\x20" + os.urandom(31),
                hello + b"\x07/noise\n\x00\x20" + os.urandom(32), b"\xff" * 9 + b"\x01", b"\xff\xff\xff\xff\x0f" + os.urandom(4096),
                os.urandom(20000), b"GET / HTTP/1.1\r\n\r\n", hello + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
    end = time.monotonic() + seconds
    held, opened = [], 0
    while time.monotonic() < end:
        for _ in range(20):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
            held.append(s)
            opened += 1
        time.sleep(0.05)
        for s in random.sample(held, len(held) // 4):
            try:
                s.send(random.choice(openings))
            except OSError:
                pass
        while len(held) > 500:
            held.pop(random.randrange(len(held))).close()
    for s in held:
        s.close()
    return opened


@scenario(kind="alone")
def floods_of_strangers_cost_little_memory_and_nobody_a_round(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    for p in (first, second):
        p.wait_for("epoch", 120, averaged_with(2))
    time.sleep(10)
    address = address_of(first)
    port = int(address.split("/tcp/")[1].split("/")[0])
    before = resident(first)
    flood = pathlib.Path(os.environ.get("WAGGLE_BINARY_DIR", ROOT / "build" / "release")) / "waggle-flood"
    attacks = [("raw", lambda: raw_flood(port, 6))]
    for mode, peers, streams in (("idle", 600, 0), ("claims", 20, 200), ("bodies", 20, 100), ("unread", 20, 100), ("rubbish", 10, 10)):
        attacks.append((mode, lambda words=(mode, peers, streams): subprocess.run(["chrt", "--idle", "0", flood, address, *map(str, words), "6"], check=True, capture_output=True)))
    peaks = {}
    for name, attack in attacks:
        mark, peak = first.mark(), [0.0]
        running = threading.Event()

        def look():
            while not running.wait(0.1):
                peak[0] = max(peak[0], resident(first))
        looker = threading.Thread(target=look)
        looker.start()
        try:
            attack()
        finally:
            running.set()
            looker.join()
        rounds = [e for e in first.events[mark:] if e.get("event") == "epoch"]
        print(f"flood {name}: {before:.0f} MiB before, at most {peak[0]:.0f}; {len(rounds)} epochs, {sum(e['averaged'] for e in rounds)} averaged", flush=True)
        peaks[name] = peak[0]
        assert first.process.poll() is None and second.process.poll() is None
        mark = first.mark()
        first.wait_for("epoch", 30, averaged_with(2), since=mark)
        failed = [e["why"] for e in rounds if not e["averaged"] and "times what gradients are" not in e["why"]]
        assert len(failed) <= 2 + len(rounds) // 10, failed
    assert max(peaks.values()) - before < 50, f"{before:.0f} MiB before; at most {peaks}"
    for p in (first, second):
        mark = p.mark()
        p.wait_for("epoch", 60, averaged_with(2), since=mark)
