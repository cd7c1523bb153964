#!/usr/bin/env python3
"""Scenarios with real processes on 127.0.0.1. One line each; ends with "N passed, N failed, N skipped"."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import averaged_with, publisher, run_scenarios, scenario, start  # noqa: E402
from swarm import lay_out_task, run  # noqa: E402
import bad_days  # noqa: E402, F401  (registers its scenarios)
import control  # noqa: E402, F401  (likewise)
import guest  # noqa: E402, F401  (likewise)
import headless  # noqa: E402, F401  (likewise)
import joining  # noqa: E402, F401  (likewise)
import lan  # noqa: E402, F401  (likewise)


def link_by(link, process):
    """The same link, but with this process' address alone."""
    from urllib.parse import quote
    address = next(e for e in process.events if e.get("event") == "started")["addresses"][0]
    return link.split("&peer=")[0] + "&peer=" + quote(address, safe="")


def api_get(process, path):
    """What the local API answers, headers and body."""
    with socket.socket(socket.AF_UNIX) as api:
        api.settimeout(10)
        api.connect(str(process.data_dir / "api.sock"))
        api.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: api.recv(65536), b"")).decode()


@scenario
def two_strangers_train_by_a_link(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("fetch", 60, lambda e: e["done"] == e["total"] > 0)
    second.wait_for("epoch", 90, averaged_with(2))
    first.wait_for("epoch", 60, averaged_with(2))
    report = second.wait_for("epoch", 60, lambda e: e.get("state") is not None)
    assert report["gradients"]["values_sent"] > 0, report


@scenario
def a_delayed_task_averages_while_it_trains(folder):
    first, link = publisher(folder, delayed=True)
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("epoch", 120, averaged_with(2))
    at = second.epoch()
    second.wait_for("epoch", 90, lambda e: e["epoch"] >= at + 10)
    later = [e for e in second.events if e.get("event") == "epoch" and e["epoch"] > at]
    assert sum(averaged_with(2)(e) for e in later) >= len(later) - 2, later
    assert sum(e.get("state") is not None for e in later) >= len(later) - 2, later
    assert first.end(signal.SIGTERM) == 0 and second.end(signal.SIGTERM) == 0


@scenario
def a_killed_trainer_is_replaced(folder):
    first, link = publisher(folder)
    first.wait_for("epoch", 90)
    trainers = first.trainers()
    assert len(trainers) == 1, trainers
    before = first.epoch()
    os.kill(trainers[0], signal.SIGKILL)
    first.wait_for("epoch", 60, lambda e: e["epoch"] >= before + 3)
    assert first.trainers() and first.trainers() != trainers


@scenario
def a_killed_peer_costs_the_others_little_and_comes_back(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    third = start("run", link, data_dir=folder / "third")
    for p in (first, second, third):
        p.wait_for("epoch", 120, averaged_with(3))
    second.kill()
    at = first.epoch()
    begin = time.monotonic()
    first.wait_for("epoch", 60, lambda e: e["epoch"] >= at + 3 and e["averaged"])
    assert time.monotonic() - begin < 45
    again = start("run", link, data_dir=folder / "second")
    again.wait_for("epoch", 120, lambda e: e["averaged"] and e["epoch"] >= at)


@scenario
def the_task_outlives_its_operator(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("epoch", 120, averaged_with(2))
    assert first.end(signal.SIGTERM) == 0
    shutil.rmtree(first.data_dir)
    third = start("run", link_by(link, second), data_dir=folder / "third")
    third.wait_for("epoch", 120, averaged_with(2))
    assert third.epoch() > 1


@scenario
def all_leave_and_come_back(folder):
    first, link = publisher(folder)
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("epoch", 120, averaged_with(2))
    assert first.end(signal.SIGTERM) == 0
    assert second.end(signal.SIGTERM) == 0
    reached = max(first.epoch(), second.epoch())
    again = start("run", "stripes", data_dir=folder / "second")
    again.wait_for("epoch", 90, lambda e: e["epoch"] > reached)


@scenario
def interrupt_leaves_in_seconds_and_the_weights_can_be_exported(folder):
    first, link = publisher(folder)
    first.wait_for("epoch", 90, lambda e: e["epoch"] >= 3)
    begin = time.monotonic()
    assert first.end(signal.SIGINT) == 130
    assert time.monotonic() - begin < 20
    assert any(e.get("event") == "evaluation" and e["final"] and e["samples"] == 128 for e in first.events)
    code, out, err = run("export", "--data-dir", first.data_dir, "--to", folder / "w.safetensors", "--json")
    assert code == 0, err
    assert json.loads(out)["epoch"] >= 3
    header_size = int.from_bytes((folder / "w.safetensors").read_bytes()[:8], "little")
    header = json.loads((folder / "w.safetensors").read_bytes()[8:8 + header_size])
    assert header["conv1.weight"]["shape"] == [8, 1, 3, 3], sorted(header)
    code, out, err = run("leave", "stripes", "--data-dir", first.data_dir, "--json")
    assert code == 0 and json.loads(out)["freed"] > 100_000, (out, err)
    assert run("leave", "stripes", "--data-dir", first.data_dir)[0] == 1


@scenario
def status_pause_resume_and_metrics(folder):
    first, link = publisher(folder)
    first.wait_for("epoch", 90)
    code, out, err = run("status", "--data-dir", first.data_dir, "--json")
    assert code == 0, err
    snapshot = json.loads(out)
    assert snapshot["schema"] == 1 and snapshot["tasks"][0]["prefix"] == "stripes"
    assert run("pause", "--data-dir", first.data_dir)[0] == 0
    time.sleep(3)
    at = first.epoch()
    time.sleep(3)
    assert first.epoch() == at, "it trains although paused"
    assert run("resume", "--data-dir", first.data_dir)[0] == 0
    first.wait_for("epoch", 30, lambda e: e["epoch"] > at)
    assert 'waggle_task_epoch{prefix="stripes",operator=' in api_get(first, "/metrics")


@scenario()
def a_pause_while_it_still_fetches_is_shown_and_stands(folder):
    first, link = publisher(folder, width=24)
    first.wait_for("epoch", 90)
    data = folder / "second"
    data.mkdir()
    (data / "waggle.toml").write_text("max_download = 20_000\n")
    second = start("run", link, data_dir=data)
    second.wait_for("fetch", 60)
    task = lambda: second.status()["tasks"][0]  # noqa: E731
    assert run("pause", "--data-dir", data)[0] == 0
    seen = task()
    assert (seen["state"], seen["paused_by"]) == ("fetching", "you"), seen
    assert run("set", "max_download", "0", "--data-dir", data)[0] == 0
    second.wait_for("state", 60, lambda e: e["state"] == "paused")
    assert second.epoch() == 0 and task()["paused_by"] == "you", task()
    assert run("resume", "--data-dir", data)[0] == 0
    second.wait_for("epoch", 90)
    assert second.end() == 0


@scenario
def a_pause_while_it_still_looks_for_its_task_stands(folder):
    first, link = publisher(folder)
    first.wait_for("epoch", 90)
    assert first.end() == 0
    second = start("run", link, data_dir=folder / "second")
    second.wait_for("state", 30, lambda e: e["state"] == "finding")
    code, out, err = run("pause", "--data-dir", second.data_dir, "--json")
    # Nothing is on disk of a task that is not known yet.
    said = json.loads(out)
    assert code == 0 and said["carried_out"] and not said["kept"] and "not on disk yet" in err, (said, err)
    start("node", data_dir=first.data_dir)
    second.wait_for("state", 120, lambda e: e["state"] == "paused")
    assert second.epoch() == 0
    # What nothing trains cannot be paused.
    code, _, err = run("pause", "--data-dir", start_idle(folder).data_dir)
    assert code == 1 and "nothing trains here" in err, (code, err)


def start_idle(folder):
    node = start("node", data_dir=folder / "idle")
    node.wait_for("started", 20)
    return node


@scenario(kind="light")
def the_command_line_says_what_is_wrong(folder):
    toml = lay_out_task(folder / "task")
    toml.write_text(toml.read_text().replace("depth = 8", "depht = 8"))
    code, out, err = run("publish", toml, "--data-dir", folder / "a", "--host", "127.0.0.1")
    assert code == 2 and "task.toml:" in err and "depht" in err and "depth" in err, (code, err)
    code, out, err = run("run", "--data-dir", folder / "b")
    assert code == 2
    code, out, err = run("run", "waggle:NOT A PREFIX", "--data-dir", folder / "b")
    assert code == 2, (code, err)
    code, out, err = run("status", "--data-dir", folder / "nothing")
    assert code == 1 and "is one running" in err, (code, err)
    for words in (["--help"], ["run", "--help"], ["publish", "--help"], ["--version"]):
        assert run(*words)[0] == 0
    took = []
    for _ in range(10):
        begin = time.monotonic()
        run("--help")
        took.append(time.monotonic() - begin)
    assert min(took) < 0.05, f"starting takes too long: {took}"


@scenario(kind="light")
def one_process_a_data_directory(folder):
    first = start("node", data_dir=folder / "a")
    first.wait_for("started", 20)
    code, out, err = run("node", "--data-dir", folder / "a", "--host", "127.0.0.1")
    assert code == 1 and str(first.process.pid) in err, (code, err)


@scenario(kind="light")
def a_busy_port_makes_way(folder):
    first = start("node", "--port", "38761", data_dir=folder / "a")
    first.wait_for("started", 20)
    second = start("node", "--port", "38761", data_dir=folder / "b")
    address = second.wait_for("started", 20)["addresses"][0]
    assert "/tcp/38762/" in address, address
    said = second.wait_for("notice", 5)["text"]
    assert "38761 was busy" in said and "38762" in said, said
    # It is remembered, even after a kill, and also once the wanted one is free again.
    second.kill()
    first.kill()
    again = start("node", data_dir=folder / "b")
    address = again.wait_for("started", 20)["addresses"][0]
    assert "/tcp/38762/" in address, address


@scenario(kind="light")
def dead_seeds_are_named_and_asked_again(folder):
    dead = []
    for i, name in enumerate(("one", "two")):
        seed = start("node", "--port", str(38771 + i), data_dir=folder / name)
        dead.append(seed.wait_for("started", 20)["addresses"][0])
        assert seed.end(signal.SIGTERM) == 0
    orphan = start("node", *(word for address in dead for word in ("--peer", address)), data_dir=folder / "orphan")
    orphan.wait_for("started", 20)
    log_file = pathlib.Path(str(orphan.data_dir) + ".log")
    waits = []
    deadline = time.monotonic() + 30
    while len(waits) < 3 and time.monotonic() < deadline:
        time.sleep(0.5)
        lines = [line for line in log_file.read_text().splitlines() if "no peer answers yet" in line]
        waits = [float(line.rsplit("trying again in ", 1)[1].split()[0]) for line in lines]
    assert len(waits) >= 3, lines
    assert waits == sorted(waits) and waits[0] < waits[1] < waits[2], waits
    for address in dead:
        where, peer = address.split("/p2p/")
        assert where in lines[0] and "refused" in lines[0].lower(), lines[0]
        assert peer[-8:] in lines[0], lines[0]
    assert orphan.process.poll() is None
    seed = start("node", "--port", "38772", data_dir=folder / "two")
    seed.wait_for("started", 20)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        snapshot = json.loads(run("status", "--data-dir", orphan.data_dir, "--json")[1])
        if snapshot["peers"]:
            return
        time.sleep(1)
    raise AssertionError("never joined")


@scenario
def two_operators_of_one_prefix_need_a_choice(folder):
    seed = start("node", data_dir=folder / "seed")
    address = seed.wait_for("started", 20)["addresses"][0]
    for name in ("a", "b"):
        toml = lay_out_task(folder / f"task-{name}", seed=ord(name))
        p = start("publish", toml, "--peer", address, "--force", data_dir=folder / name)
        p.wait_for("published", 120)
    # The records travel to the seed as soon as they are stored.
    deadline = time.monotonic() + 40
    while True:
        third = start("run", "stripes", "--peer", address, data_dir=folder / f"c{int(time.monotonic())}")
        try:
            code = third.process.wait(timeout=25)
        except subprocess.TimeoutExpired:
            code = None
        third.kill()
        if code == 3 or time.monotonic() > deadline:
            break
    assert code == 3, code
    third.reader.join(timeout=5)
    assert len(third.events[-1]["operators"]) == 2, third.events[-1]


if __name__ == "__main__":
    sys.exit(run_scenarios(sys.argv[1:]))
