"""Watching and steering another machine: a code shown there and typed here, and the permission taken back."""
import json
import signal
import subprocess

from bad_days import eventually
from harness import publisher, scenario, start
from swarm import WAGGLE, run


class Offer:
    """`waggle pair` at a machine: the code it shows, and whom it lets in."""

    def __init__(self, data_dir, *flags):
        self.process = subprocess.Popen([str(WAGGLE), "pair", *flags, "--data-dir", str(data_dir), "--json"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.shown = json.loads(line)

    def end(self):
        out, _ = self.process.communicate(timeout=20)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()]


def words(*arguments, data_dir):
    """Exit status and everything that was said."""
    code, out, err = run(*arguments, "--data-dir", data_dir)
    return code, out + err


def task_of(process):
    return process.status()["tasks"][0]


@scenario
def a_machine_is_paired_watched_paused_and_lets_nobody_in_after_that(folder):
    server, _ = publisher(folder)
    laptop = folder / "laptop"

    # Nobody is paired yet: nothing of it is served.
    code, said = words("status", "--on", "server", data_dir=laptop)
    assert code == 1 and "none is paired" in said, said

    offer = Offer(server.data_dir, "--control")
    address, letters = offer.shown["address"], offer.shown["code"]
    assert "/p2p/" in address and len(letters) == 9, offer.shown
    wrong = "0000-0000" if letters != "0000-0000" else "1111-1111"
    code, said = words("pair", address, wrong, data_dir=folder / "thief")
    assert code == 1 and "code" in said, said
    code, said = words("pair", address, letters, "--name", "server", data_dir=laptop)
    assert code == 0, said
    code, events = offer.end()
    assert code == 0 and events[-1]["event"] == "paired" and events[-1]["right"] == "control", events

    # Watched: the same snapshot as at the machine itself, but for who watches it.
    code, out, err = run("status", "--on", "server", "--data-dir", laptop, "--json")
    assert code == 0, err
    there = json.loads(out)
    assert there["peer_id"] == server.status()["peer_id"] and there["tasks"][0]["prefix"] == "stripes", there
    assert there["control"]["paired"] == [], there["control"]
    code, out, err = run("machines", "--data-dir", laptop, "--json")
    row = json.loads(out)
    assert (row["name"], row["state"], row["right"]) == ("server", "watching", "control"), row

    # Steered.
    code, said = words("pause", "--on", "server", data_dir=laptop)
    assert code == 0, said
    eventually(10, "paused from afar", lambda: task_of(server)["paused_by"] == "you")
    mark = server.mark()
    assert words("resume", "--on", "server", data_dir=laptop)[0] == 0
    server.wait_for("epoch", 60, since=mark)

    # What a stranger, with the address and the old code, gets.
    code, said = words("pair", address, letters, data_dir=folder / "thief")
    assert code == 1 and "know" in said, said

    # Revoked: refused in words, at once.
    code, said = words("pair", "--list", data_dir=server.data_dir)
    assert code == 0 and "control" in said, said
    paired = server.status()["control"]["paired"]
    assert len(paired) == 1, paired
    code, said = words("pair", "--remove", paired[0]["peer_id"], data_dir=server.data_dir)
    assert code == 0, said
    code, said = words("pause", "--on", "server", data_dir=laptop)
    assert code == 1, said
    code, said = words("status", "--on", "server", data_dir=laptop)
    assert code == 1 and "server" in said, said
    assert task_of(server)["state"] != "paused"
    assert server.end(signal.SIGTERM) == 0

    # The machine is gone, and says so.
    code, out, _ = run("machines", "--data-dir", laptop, "--json", "--wait", "2")
    assert json.loads(out)["state"] != "watching", out


@scenario(kind="light")
def who_may_only_watch_steers_nothing_and_it_all_stands_after_a_restart(folder):
    server = start("node", data_dir=folder / "server", extra=("--host", "127.0.0.1"))
    server.wait_for("started", 30)
    offer = Offer(server.data_dir)
    code, said = words("pair", offer.shown["address"], offer.shown["code"], "--name", "server", data_dir=folder / "laptop")
    assert code == 0 and offer.end()[0] == 0, said
    code, said = words("pause", "--on", "server", data_dir=folder / "laptop")
    assert code == 1 and "watch this machine, but not control it" in said, said
    for name in ("paired.toml", "watch.key", "machines.toml"):
        for place in (server.data_dir, folder / "laptop"):
            if (place / name).exists():
                assert (place / name).stat().st_mode & 0o777 == 0o600, name

    server.kill()
    again = start("node", data_dir=server.data_dir, extra=("--host", "127.0.0.1"))
    again.wait_for("started", 30)
    code, said = words("status", "--on", "server", data_dir=folder / "laptop")
    assert code == 0, said

    # Removed while no node runs: it stands in the file.
    assert again.end(signal.SIGTERM) == 0
    paired = json.loads(run("pair", "--list", "--json", "--data-dir", again.data_dir)[1])
    assert words("pair", "--remove", paired["name"], data_dir=again.data_dir)[0] == 0
    third = start("node", data_dir=again.data_dir, extra=("--host", "127.0.0.1"))
    third.wait_for("started", 30)
    code, said = words("status", "--on", "server", data_dir=folder / "laptop")
    assert code == 1, said
    # A code that nobody takes is withdrawn by Ctrl-C.
    offer = Offer(third.data_dir)
    offer.process.send_signal(signal.SIGINT)
    assert offer.end()[0] == 130
    eventually(5, "the code is withdrawn", lambda: third.status()["control"]["pairing_until"] == 0)
    assert third.end(signal.SIGTERM) == 0
