# SPDX-License-Identifier: MIT
"""hivemind.DHT and core/dht hold one table: values, dictionaries, expirations, validators, nodes that come and go."""
import time

KINDS = ("waggle", "hivemind")
BOTH_WAYS = (("waggle", "hivemind"), ("hivemind", "waggle"))
PLAIN = [5, -7, 2**40, 0.125, "text", "grüße", True, None, [1, "two", [3.5]], {"a": 1, "b": {"c": [True, None]}}, {"hex": "00ff10"}, {"hex": ""}]


def ways(test):
    """One scenario each way."""
    return [(f"{test.__name__.replace('_', ' ')}: {a} to {b}", lambda cast, a=a, b=b: test(cast, a, b)) for a, b in BOTH_WAYS]


def joins_by_a_waggle_node(cast):
    node = cast.node()
    first, second = cast.hivemind(node.address), cast.hivemind(node.address)
    assert first.ask("store", key="hello", value=1)["stored"]
    assert second.ask("get", key="hello")["value"] == 1


def joins_by_a_hivemind_peer(cast):
    seed = cast.hivemind()
    node = cast.node(seed.addresses[0])
    mine = cast.waggle(seed.addresses[0])
    assert mine.ask("table")["size"] >= 1
    assert mine.ask("store", key="hello", value=2)["stored"]
    assert seed.ask("get", key="hello")["value"] == 2
    third = cast.hivemind(node.address)
    assert third.ask("get", key="hello")["value"] == 2


def plain_values(cast, a, b):
    writer, reader = cast.pair(a, b)
    for number, value in enumerate(PLAIN):
        stored = writer.ask("store", key=f"plain{number} of {a}", value=value)
        assert stored["stored"], (number, value)
        found = reader.ask("get", key=f"plain{number} of {a}")
        assert found["value"] == value and found["expiration"] == stored["expiration"], (value, found)


def dictionaries(cast, a, b):
    """Both write under one key; each sees all, with every entry's own expiration."""
    writer, reader = cast.pair(a, b)
    expected = {}
    for number, subkey in enumerate(["text", 7, {"hex": "c0ffee"}, True, 0.5]):
        for who in (writer, reader):
            # Under the text each has its own entry, under the others the second one's replaces the first one's.
            name = f"{subkey}-{who.kind}" if isinstance(subkey, str) else subkey
            said = who.ask("store", key=f"many of {a}", subkey=name, value=[number, who.kind], ttl=40 + number + (who is reader))
            assert said["stored"], (who.kind, name)
            expected[repr(name)] = ([number, who.kind], said["expiration"])
    for who in (writer, reader):
        entries = {repr(k): (v, e) for k, v, e in who.ask("get", key=f"many of {a}")["entries"]}
        assert entries == expected, (who.kind, entries, expected)


def expirations(cast, a, b):
    writer, reader = cast.pair(a, b)
    later = writer.ask("store", key=f"x of {a}", value="later", ttl=50)
    assert not reader.ask("store", key=f"x of {a}", value="earlier", expiration=later["expiration"] - 10)["stored"]
    assert writer.ask("get", key=f"x of {a}")["value"] == reader.ask("get", key=f"x of {a}")["value"] == "later"
    assert reader.ask("store", key=f"x of {a}", value="latest", expiration=later["expiration"] + 10)["stored"]
    assert writer.ask("get", key=f"x of {a}")["value"] == "latest"
    writer.ask("store", key=f"brief of {a}", value=1, ttl=1.5)
    assert reader.ask("get", key=f"brief of {a}")["value"] == 1
    time.sleep(1.7)
    assert reader.ask("get", key=f"brief of {a}") == {} and writer.ask("get", key=f"brief of {a}") == {}


def signed_records(cast, a, b):
    """Under an owner's mark only the owner writes, whoever keeps the record."""
    writer, reader = cast.pair(a, b)
    mark = writer.ask("validate")["owner"]
    stored = writer.ask("store", key=f"signed of {a}", subkey={"owner": True}, value={"n": 1}, ttl=40)
    assert stored["stored"]
    assert reader.ask("get", key=f"signed of {a}")["entries"] == [[mark, {"n": 1}, stored["expiration"]]]
    # A forger's entry ends later and would win if anybody took it.
    assert not reader.ask("store", key=f"signed of {a}", subkey=mark, value={"n": 2}, ttl=55)["stored"]
    assert writer.ask("get", key=f"signed of {a}")["entries"] == [[mark, {"n": 1}, stored["expiration"]]]
    own = reader.ask("store", key=f"signed of {a}", subkey={"owner": True}, value={"n": 3}, ttl=40)
    assert own["stored"]
    assert len(writer.ask("get", key=f"signed of {a}")["entries"]) == 2


def records_with_a_schema(cast, a, b):
    """The progress record of hivemind's optimizer, and what its schema forbids."""
    writer, reader = cast.pair(a, b)
    reader.ask("validate", progress=a)
    good = {"peer_id": {"hex": "0022"}, "epoch": 3, "samples_accumulated": 16, "samples_per_second": 2.5, "time": 1.5, "client_mode": False}

    def store(value, subkey={"owner": True}):
        return writer.ask("store", key=f"{a}_progress", subkey=subkey, value=value, ttl=40)["stored"]

    assert store(good)
    found = reader.ask("get", key=f"{a}_progress")["entries"]
    assert [value for _, value, _ in found] == [good], found
    # hivemind's schema looks at what stands in its own store and comes in; ours, too. The writer has no schema and keeps what
    # it likes, so the reader's answer is what counts.
    for bad in ({**good, "epoch": -1}, {**good, "epoch": 1.0}, {**good, "samples_per_second": 2}, {**good, "more": 1}, 17, {k: v for k, v in good.items() if k != "time"}):
        store(bad)
        found = reader.ask("get", key=f"{a}_progress")
        assert bad not in [value for _, value, _ in found.get("entries", [])], (bad, found)


def survives_its_writer(cast, a, b):
    seed = cast.peer(b)
    writer = cast.peer(a, seed.addresses[0])
    others = [cast.peer(kind, seed.addresses[0]) for kind in KINDS]
    assert writer.ask("store", key="legacy", value="kept")["stored"]
    assert writer.ask("store", key="legacies", subkey="s", value="kept too")["stored"]
    writer.kill()
    for who in (seed, *others):
        assert who.ask("get", key="legacy")["value"] == "kept", who.kind
        assert who.ask("get", key="legacies")["entries"][0][:2] == ["s", "kept too"], who.kind


def clients(cast, a, b):
    """A peer that serves nobody reads and writes, and stands in nobody's table."""
    seed = cast.peer(b)
    client = cast.peer(a, seed.addresses[0], client=True)
    other = cast.peer(a, seed.addresses[0])
    assert client.ask("store", key="from client", value=1)["stored"]
    assert other.ask("get", key="from client")["value"] == 1
    assert other.ask("store", key="to client", subkey="s", value=2)["stored"]
    assert client.ask("get", key="to client")["entries"][0][:2] == ["s", 2]
    if b == "waggle":
        assert seed.ask("table")["size"] == 1


def ten_nodes_of_both_kinds(cast):
    """Each stores, each reads all; then half of them vanish and all is still there."""
    node = cast.node()
    peers = [cast.peer(KINDS[i % 2], node.address) for i in range(9)]
    for i, peer in enumerate(peers):
        assert peer.ask("store", key=f"plain {i}", value=i)["stored"]
        assert peer.ask("store", key="shared", subkey=f"s{i}", value=i)["stored"]

    def all_there(who):
        asked = [who.begin("get", key=f"plain {i}") for i in range(len(peers))]
        assert [end().get("value") for end in asked] == list(range(len(peers))), who.kind
        entries = who.ask("get", key="shared")["entries"]
        assert {k: v for k, v, _ in entries} == {f"s{i}": i for i in range(len(peers))}, (who.kind, entries)

    for peer in peers:
        all_there(peer)
    for peer in peers[:4]:
        peer.kill()
    for peer in peers[4:]:
        all_there(peer)


SCENARIOS = [
    ("hivemind joins by a waggle node", joins_by_a_waggle_node),
    ("waggle joins by a hivemind peer", joins_by_a_hivemind_peer),
    *ways(plain_values),
    *ways(dictionaries),
    *ways(expirations),
    *ways(signed_records),
    *ways(records_with_a_schema),
    *ways(survives_its_writer),
    *ways(clients),
    ("ten nodes of both kinds", ten_nodes_of_both_kinds),
]
