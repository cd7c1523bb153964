"""Two machines in one local network, laid out as network namespaces, find each other without a link."""
import os
import shutil
import subprocess

from bad_days import eventually
from harness import Skip, scenario, start
from joining import send
from swarm import lay_out_task

EVERYWHERE = ("--threads", "1", "--always")


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20)


class Network:
    """Machines of one local network: namespaces with an address each, joined by a cable. They are gone when the block ends."""

    def __init__(self, *addresses):
        self.names = [f"waggle-{os.getpid()}-{i}" for i in range(len(addresses))]
        self.addresses = addresses

    def __enter__(self):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise Skip("making network namespaces takes root and ip(8)")
        a, b = self.names
        laid = ip("netns", "add", a).returncode == 0 and ip("netns", "add", b).returncode == 0
        laid = laid and ip("link", "add", "lan0", "netns", a, "type", "veth", "peer", "name", "lan0", "netns", b).returncode == 0
        for name, address in zip(self.names, self.addresses):
            for words in (["address", "add", address, "dev", "lan0"], ["link", "set", "lan0", "up"], ["link", "set", "lo", "up"]):
                laid = laid and ip("-n", name, *words).returncode == 0
        if not laid:
            self.__exit__()
            raise Skip("no network namespaces here")
        return [("ip", "netns", "exec", name) for name in self.names]

    def __exit__(self, *_):
        for name in self.names:
            ip("netns", "delete", name)


def peers_of(process):
    return [peer["id"] for peer in process.status()["peers"]]


@scenario
def two_of_one_network_find_each_other_and_a_public_task_without_a_link(folder):
    with Network("10.77.0.1/24", "10.77.0.2/24") as (here, there):
        toml = lay_out_task(folder / "task", prefix="public")
        first = start("publish", toml, "--public", data_dir=folder / "first", extra=EVERYWHERE, before=here)
        first.wait_for("published", 120)
        hidden = lay_out_task(folder / "hidden-task", prefix="hidden", seed=2)
        second = start("publish", hidden, data_dir=folder / "second", extra=EVERYWHERE, before=here)
        second.wait_for("published", 120)
        node = start("node", data_dir=folder / "node", extra=EVERYWHERE, before=there)
        node.wait_for("started", 20)
        ids = {p.data_dir.name: p.status()["peer_id"] for p in (first, second, node)}
        eventually(40, "all know each other", lambda: set(peers_of(node)) == {ids["first"], ids["second"]})

        def offered():
            assert " 200 " in send(node, command="browse").splitlines()[0]
            return [k["prefix"] for k in node.status()["known_tasks"]]

        eventually(60, "the public task is offered", lambda: "public" in offered())
        assert offered() == ["public"], "what is not public is told to nobody"
        assert node.status()["tasks"] == [], "looking joins nothing"

        # Who does not want it neither asks nor answers.
        silent = start("node", data_dir=folder / "silent", extra=(*EVERYWHERE, "--no-lan"), before=there)
        silent.wait_for("started", 20)
        late = start("node", data_dir=folder / "late", extra=EVERYWHERE, before=here)
        late.wait_for("started", 20)
        eventually(40, "who came late is known", lambda: late.status()["peer_id"] in peers_of(node))
        assert silent.status()["peers"] == [], silent.status()["peers"]
        settings = {s["name"]: s for s in silent.status()["settings"]}
        assert settings["lan"]["value"] == "false" and settings["lan"]["from"] == "flag", settings["lan"]
        for process in (first, second, node, silent, late):
            assert process.end() == 0
