"""Two machines in one local network, laid out as network namespaces, find each other without a link."""
import itertools
import os
import shutil
import subprocess

from bad_days import eventually
from harness import Skip, scenario, start
from joining import send
from swarm import lay_out_task

NUMBERS = itertools.count()
EVERYWHERE = ("--threads", "1", "--always")


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20)


class Network:
    """Machines of one local network: namespaces with an address each, joined by a cable. They are gone when the block ends."""

    def __init__(self, *addresses):
        self.names = [f"waggle-{os.getpid()}-{next(NUMBERS)}" for _ in addresses]
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


# Names 3000 peers that are not there, and counts who calls at the one place that all of them are said to be.
FLOOD = """
import os, socket, struct, threading, time
LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
def base58(raw):
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = LETTERS[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\\0"))) + text
def name(dotted):
    return b"".join(bytes([len(label)]) + label.encode() for label in dotted.split(".")) + b"\\0"
door = socket.create_server(("10.77.0.2", 9), backlog=1000)
calls = []
def answer():
    while True:
        calls.append(door.accept()[0])
        calls[-1].close()
threading.Thread(target=answer, daemon=True).start()
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.77.0.2"))
for i in range(3000):
    text = b"dnsaddr=/ip4/10.77.0.2/tcp/9/p2p/" + base58(bytes.fromhex("002408011220") + os.urandom(32)).encode()
    text = bytes([len(text)]) + text
    record = name("x%d._p2p._udp.local" % i) + struct.pack(">2HIH", 16, 1, 120, len(text)) + text
    out.sendto(struct.pack(">6H", 0, 0x8400, 0, 1, 0, 0) + record, ("224.0.0.251", 5353))
    out.sendto(os.urandom(400), ("224.0.0.251", 5353))
    time.sleep(0.001)
time.sleep(10)
print(len(calls))
"""


@scenario(kind="light")
def a_flood_of_names_is_dialled_a_few_times_only(folder):
    with Network("10.77.0.1/24", "10.77.0.2/24") as (here, there):
        node = start("node", data_dir=folder / "node", extra=EVERYWHERE, before=here)
        node.wait_for("started", 20)
        done = subprocess.run([*there, "python3", "-c", FLOOD], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        # 32 peers, and each of them again whenever the wait between two tries has passed.
        assert 0 < int(done.stdout) <= 32 * 8, done.stdout
        assert node.status()["peers"] == []
        assert node.end() == 0
