"""A good guest: what the machine does, by a /sys of our own, starts and stops a training; what a person says of it counts more, and survives."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import time

from bad_days import eventually
from harness import publisher, scenario, start
from swarm import BUILD, lay_out_task, run

FOLLOWING_THE_RULES = ("--host", "127.0.0.1", "--threads", "1")


def put(sys, name, text):
    file = sys / "class/power_supply" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def laptop(folder):
    sys = folder / "sys"
    for name, text in {"BAT0/type": "Battery", "BAT0/status": "Discharging", "BAT0/capacity": "62", "AC/type": "Mains", "AC/online": "1"}.items():
        put(sys, name, text)
    return sys


def task_of(process):
    return process.status()["tasks"][0]


@scenario
def on_battery_it_rests_with_the_reason_and_a_person_may_say_otherwise(folder):
    sys = laptop(folder)
    following = {"data_dir": folder / "a", "extra": FOLLOWING_THE_RULES, "env": {"WAGGLE_SYSFS": str(sys)}}
    toml = lay_out_task(folder / "task")
    first = start("publish", toml, "--run", **following)
    first.wait_for("published", 120)
    first.wait_for("epoch", 90)

    mark = first.mark()
    put(sys, "AC/online", "0")
    said = first.wait_for("state", 20, lambda e: e["state"] == "paused", since=mark)["text"]
    assert "on battery (62 %)" in said and "resume" in said, said

    def told():
        task = task_of(first)
        return task["state"], task["reason"], task["paused_by"]

    eventually(5, "status says why", lambda: told() == ("paused", "on battery (62 %)", "guest"))
    assert "on battery (62 %)" in run("status", "--data-dir", first.data_dir)[1]
    machine = first.status()["machine"]
    assert machine["on_battery"] and machine["battery_percent"] == 62, machine

    # The settings file is followed while it is edited.
    mark = first.mark()
    (first.data_dir / "waggle.toml").write_text("[guest]\non_battery = true\n")
    first.wait_for("epoch", 60, since=mark)
    mark = first.mark()
    (first.data_dir / "waggle.toml").unlink()
    first.wait_for("state", 20, lambda e: e["state"] == "paused", since=mark)

    # Run anyway.
    mark = first.mark()
    assert run("resume", "--data-dir", first.data_dir)[0] == 0
    first.wait_for("epoch", 60, since=mark)

    def overridden():
        guest = first.status()["guest"]
        return guest["overridden"] and not guest["resting"] and guest["causes"]

    eventually(5, "the rules are overridden", overridden)

    # A person's pause comes first, and stands after a kill.
    assert run("pause", "--data-dir", first.data_dir)[0] == 0
    eventually(5, "the pause is the person's", lambda: task_of(first)["paused_by"] == "you")
    put(sys, "AC/online", "1")
    first.kill()
    again = start("publish", toml, "--run", **following)
    said = again.wait_for("state", 120, lambda e: e["state"] == "paused")["text"]
    assert said.startswith("paused by you"), said
    assert not any(e.get("event") == "epoch" for e in again.events)
    mark = again.mark()
    assert run("resume", "--data-dir", again.data_dir)[0] == 0
    again.wait_for("epoch", 90, since=mark)
    eventually(5, "nothing pauses it", lambda: task_of(again)["paused_by"] == "")

    # After a pause the machine is looked at as often as before; nobody asks meanwhile. A setting has a calm guest look, so that one that
    # stayed calm would look again ten seconds later: when the wait is over.
    assert run("pause", "--data-dir", again.data_dir)[0] == 0
    time.sleep(4)
    assert run("set", "cpu_share", "90", "--data-dir", again.data_dir)[0] == 0
    assert run("resume", "--data-dir", again.data_dir)[0] == 0
    mark = again.mark()
    time.sleep(1)
    put(sys, "AC/online", "0")
    again.wait_for("state", 7, lambda e: e["state"] == "paused", since=mark)
    assert again.end() == 0


@scenario
def a_pause_that_a_busy_disk_does_not_keep_yet_is_said(folder):
    node, _ = publisher(folder)
    node.wait_for("epoch", 120)
    at = ("--data-dir", node.data_dir, "--json")
    with contextlib.closing(sqlite3.connect(node.data_dir / "waggle.sqlite3", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        code, out, err = run("pause", *at)
        database.execute("ROLLBACK")
    assert code == 0 and json.loads(out) == {"ok": True, "state": "paused", "carried_out": True, "kept": False}, (code, out)
    assert "counts already, but is not on disk yet" in err, err
    eventually(5, "it counts", lambda: task_of(node)["paused_by"] == "you")
    code, out, err = run("resume", *at)
    assert code == 0 and json.loads(out) == {"ok": True, "state": "resumed", "carried_out": True, "kept": True}, (code, out)
    assert not err, err
    assert node.end() == 0


def trainers_of(process):
    """The processes that it started."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process.process.pid:
            found.append(int(stat.parent.name))
    return found


@scenario
def a_trainer_that_fails_five_times_in_a_row_pauses_its_task_until_a_person_resumes(folder):
    works = folder / "works"
    works.touch()
    trainer = folder / "trainer"
    tries = folder / "tries"
    trainer.write_text(f"#!/bin/sh\necho >> {tries}\n[ -e {works} ] && exec {BUILD / 'waggle-trainer'} \"$@\"\nexit 3\n")
    trainer.chmod(0o755)
    broken = {"data_dir": folder / "a", "extra": FOLLOWING_THE_RULES, "env": {"WAGGLE_TRAINER": str(trainer), "WAGGLE_SYSFS": str(laptop(folder))}}
    toml = lay_out_task(folder / "task")
    node = start("publish", toml, "--run", **broken)
    node.wait_for("published", 120)
    node.wait_for("epoch", 90)

    def pauses_with_the_reason(process):
        said = process.wait_for("state", 90, lambda e: e["state"] == "paused")["text"]
        assert "the trainer failed 5 times in a row: " in said and "`waggle resume` tries again" in said, said
        eventually(5, "status says who pauses", lambda: [t["paused_by"] for t in process.status()["tasks"]] == ["crash"])
        task = task_of(process)
        assert task["state"] == "paused", task
        assert task["reason"].startswith("the trainer failed 5 times in a row: "), task["reason"]
        assert task["reason"] in run("status", "--data-dir", process.data_dir)[1]

    def goes_on(process):
        mark = process.mark()
        assert run("resume", "--data-dir", process.data_dir)[0] == 0
        process.wait_for("epoch", 90, since=mark)
        eventually(5, "nothing pauses it", lambda: task_of(process)["paused_by"] == "")

    works.unlink()
    for pid in trainers_of(node):
        os.kill(pid, signal.SIGKILL)
    pauses_with_the_reason(node)
    works.touch()
    goes_on(node)
    assert node.end() == 0

    # One that cannot even be started: not an end of the program either.
    works.unlink()
    again = start("node", **broken)
    again.wait_for("started", 20)
    assert run("resume", "stripes", "--data-dir", again.data_dir)[0] == 0
    pauses_with_the_reason(again)

    # It stays so over a restart, untried, until a person resumes.
    again.kill()
    tried = tries.read_text()
    third = start("node", **broken)
    pauses_with_the_reason(third)
    assert tries.read_text() == tried
    works.touch()
    goes_on(third)
    assert third.end() == 0


@scenario
def a_pause_a_resume_and_another_share_are_obeyed_beside_a_long_rest(folder):
    data = folder / "a"
    data.mkdir()
    # A second's work, then twenty of rest.
    (data / "waggle.toml").write_text("cpu_share = 5\n")
    node = start("publish", lay_out_task(folder / "task", width=64, micro_batch=512, target=65536), "--run", data_dir=data, extra=FOLLOWING_THE_RULES)
    node.wait_for("published", 120)

    def samples():
        return task_of(node)["samples_this_epoch"]

    def phase():
        return task_of(node)["phase"]

    def obeyed(command, wanted):
        assert run(command, "--data-dir", data)[0] == 0
        eventually(3, f"{command} is obeyed", lambda: phase() == wanted)

    eventually(90, "the first micro-batch", lambda: node.status()["tasks"] and samples() > 0)
    at = samples()
    time.sleep(5)
    assert (samples(), phase()) == (at, "training"), (at, samples(), phase())
    for _ in range(3):
        obeyed("pause", "paused")
        obeyed("resume", "training")
    # What is owed is still owed.
    assert samples() == at, (at, samples())
    assert run("set", "cpu_share", "100", "--data-dir", data)[0] == 0
    eventually(10, "another share ends the rest", lambda: samples() > at)
    assert run("pause", "--data-dir", data)[0] == 0
    assert node.end() == 0


@scenario
def a_setting_is_changed_in_its_place_without_a_node_and_followed_by_one(folder):
    data = folder / "a"
    data.mkdir()
    file = data / "waggle.toml"
    file.write_text("# mine\nport = 0 # any\n[guest] # rules\non_battery = false # never\n")
    at = ("--data-dir", data)
    assert run("set", "guest.on_battery", "true", *at)[0] == 0
    assert run("set", "team", "The bees", *at)[0] == 0
    assert file.read_text() == "# mine\nport = 0 # any\nteam = \"The bees\"\n[guest] # rules\non_battery = true # never\n", file.read_text()
    before = file.read_text()
    code, _, said = run("set", "power", "high", *at)
    assert code == 1 and "\"light\", \"medium\" or \"full\"" in said, (code, said)
    assert file.read_text() == before

    toml = lay_out_task(folder / "task")
    node = start("publish", toml, "--run", data_dir=data, extra=FOLLOWING_THE_RULES)
    node.wait_for("published", 120)
    node.wait_for("epoch", 90)
    ran = run("set", "cpu_share", "40", *at)
    assert ran[0] == 0, ran
    eventually(10, "the share is followed", lambda: abs(node.status()["guest"]["duty"] - 0.4) < 1e-9)
    code, said = run("set", "threads", "2", *at)[:2]
    assert code == 0 and "flag" in said, (code, said)
    assert node.status()["guest"]["threads"] == 1
    assert run("set", "cpu_share", "0", *at)[0] == 1
    # Memory that holds a part of the micro-batch, and a line that is slow: training goes on.
    mark = node.mark()
    assert run("set", "max_memory", "64", *at)[0] == 0
    assert run("set", "max_upload", "20000", *at)[0] == 0
    assert run("set", "daily_traffic", "15", *at)[0] == 1
    node.wait_for("epoch", 90, since=mark)
    listed = {s["name"]: s for s in json.loads(run("settings", "--json", *at)[1])["settings"]}
    assert listed["cpu_share"]["value"] == "40" and listed["threads"]["from"] == "flag", listed
    # What training took of electricity is in the ledger, hour by hour.
    mark = node.mark()
    node.wait_for("epoch", 90, since=mark)
    eventually(20, "electricity is noted", lambda: node.status()["contribution"]["today"]["kwh"] > 0)
    given = node.status()["contribution"]
    assert len(given["by_hour"]) == 24 and sum(s["samples"] for s in given["by_hour"]) == given["today"]["samples"], given
