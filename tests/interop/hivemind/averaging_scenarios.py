# SPDX-License-Identifier: MIT
"""hivemind's DecentralizedAverager and core/averaging form one group; TrainingStateAverager and core/averaging share states."""
import time

import numpy

# Several parts for several reducers, a scalar-like tensor, one large enough for 8 bits where the size decides.
SHAPES = [[3], [40, 50], [], [300, 300], [5000]]
# 16 KiB parts: many of them, so that every member reduces some.
PART_BYTES = 1 << 14

# What a value may be off by: half the last place of the largest value in float16; in 8 bits values beyond three deviations become
# the mean of all such. And what all may be off by in the mean.
CODECS = {"none": 2e-6, "float16": 4e-3, "uniform8bit": 2.5, "size_adaptive": 2.5}
MEAN_ERROR = {"none": 1e-6, "float16": 1e-3, "uniform8bit": 0.03, "size_adaptive": 0.03}


def values_of(number, shapes=SHAPES):
    size = sum(int(numpy.prod(shape)) for shape in shapes)
    return numpy.random.default_rng(number).normal(number, 1, size).astype("<f4")


def average(cast, peers, name, codec, weights, **more):
    """All step at once; each one's values, those they became, and their answers."""
    given, ends = [], []
    ids_of(peers)  # all have started
    for i, peer in enumerate(peers):
        given.append(values_of(i))
        given[-1].tofile(cast.folder / f"{name}-{i}.in")
        ends.append(peer.begin("average", prefix=name, shapes=SHAPES, codec=codec if isinstance(codec, str) else codec[i],
                               weight=weights[i], user={"number": i, "kind": peer.kind}, part_bytes=PART_BYTES,
                               **{"in": str(cast.folder / f"{name}-{i}.in"), "out": str(cast.folder / f"{name}-{i}.out")}, **more))
    answers = [end() for end in ends]
    for peer, answer in zip(peers, answers):
        assert "error" not in answer, f"{peer.kind}: {answer['error']}"
    return given, [numpy.fromfile(cast.folder / f"{name}-{i}.out", dtype="<f4") for i in range(len(peers))], answers


def check(peers, given, got, answers, weights, worst, mean_worst):
    ids = sorted(peer.peer for peer in peers)
    users = {peer.peer: {"number": i, "kind": peer.kind} for i, peer in enumerate(peers)}
    for peer, answer in zip(peers, answers):
        assert sorted(answer["group"]) == ids, (peer.kind, answer["group"], ids)
        assert answer["group"] == answers[0]["group"], "the order differs"
        assert answer["gathered"] == [users[p] for p in answer["group"]], (peer.kind, answer["gathered"])
        if peer.kind == "waggle":
            assert answer["fraction"] == 1 and not answer["banned"] and not answer["failed"], answer
            order = {p: w for p, w in zip(ids_of(peers), weights)}
            for p, seen in zip(answer["group"], answer["weights"]):
                assert seen in (-1, order[p]), (answer["weights"], weights)
    mean = sum(w * v.astype(float) for w, v in zip(weights, given)) / sum(weights)
    largest = 0
    for peer, result in zip(peers, got):
        off = numpy.abs(result - mean)
        largest = max(largest, off.max())
        assert off.max() <= worst, f"{peer.kind}: a value is off by {off.max()}"
        assert off.mean() <= mean_worst, f"{peer.kind}: values are off by {off.mean()}"
    return f"worst error {largest:.1e}"


def ids_of(peers):
    return [peer.peer for peer in peers]


def group_of(cast, *kinds):
    first = cast.peer(kinds[0])
    return [first, *(cast.peer(kind, first.addresses[0]) for kind in kinds[1:])]


def rounds_with_every_codec(cast):
    """Two of each kind, one group, one round a codec."""
    peers = group_of(cast, "waggle", "hivemind", "waggle", "hivemind")
    weights = [1.0, 2.0, 0.5, 3.0]
    details = []
    for codec in CODECS:
        given, got, answers = average(cast, peers, f"every_{codec}", codec, weights)
        details.append(f"{codec} {check(peers, given, got, answers, weights, CODECS[codec], MEAN_ERROR[codec])}")
    return ", ".join(details)


def a_pair(cast, a, b):
    """Two rounds, so that either may lead; the second begins from equal values and must change nothing."""
    peers = group_of(cast, a, b)
    for n, weights in enumerate(([1.0, 1.0], [5.0, 1.0])):
        given, got, answers = average(cast, peers, f"pair{n}", "none", weights)
        check(peers, given, got, answers, weights, CODECS["none"], MEAN_ERROR["none"])


def a_full_group_begins_at_once(cast):
    """With a target the leader does not wait for its time."""
    peers = group_of(cast, "hivemind", "waggle", "hivemind")
    given, got, answers = average(cast, peers, "full", "float16", [1.0] * 3, target=3, matchmaking=15.0, timeout=40.0)
    slowest = max(answer["seconds"] for answer in answers)
    assert slowest < 10, f"the group took {slowest} s"
    return f"{check(peers, given, got, answers, [1.0] * 3, CODECS['float16'], MEAN_ERROR['float16'])}, {slowest:.1f} s"


def clients_take_part(cast, a, b):
    """A client reduces nothing and still gives and gets everything."""
    seed = cast.peer(b)
    client = cast.peer(a, seed.addresses[0], client=True)
    peers = [seed, client]
    given, got, answers = average(cast, peers, "client", "none", [1.0, 3.0])
    return check(peers, given, got, answers, [1.0, 3.0], CODECS["none"], MEAN_ERROR["none"])


def a_member_that_vanishes_costs_its_part(cast, leaver):
    """It is killed once the group stands; the others end with each other's mean or their own values, and soon."""
    peers = group_of(cast, "waggle", "hivemind", leaver)
    ids_of(peers)  # all have started
    for i in range(3):
        values_of(i).tofile(cast.folder / f"{i}.in")
    ends = [peer.begin("average", prefix="vanish", shapes=SHAPES, codec="float16", weight=1.0, user=None, part_bytes=PART_BYTES,
                       timeout=40.0, **{"in": str(cast.folder / f"{i}.in"), "out": str(cast.folder / f"{i}.out")})
            for i, peer in enumerate(peers)]
    time.sleep(1.5)
    peers[2].kill()
    answers = [end() for end in ends[:2]]
    for peer, answer in zip(peers, answers):
        assert "error" not in answer, f"{peer.kind}: {answer['error']}"
    for i in range(2):
        got = numpy.fromfile(cast.folder / f"{i}.out", dtype="<f4")
        assert numpy.isfinite(got).all()
    return f"group of {len(answers[0]['group'])}"


def states_from_hivemind(cast):
    """Waggle loads what TrainingStateAverager gives; then gives it on to a third, hivemind's own again."""
    donor = cast.hivemind()
    taker = cast.waggle(donor.addresses[0])
    half = [[3], [40, 50], [300, 300]]
    shapes = half + half  # parameters, then momenta
    values = values_of(7, shapes)
    values.tofile(cast.folder / "state.in")
    for codec, worst in (("none", 0), ("float16", 8e-3)):
        at = {"prefix": f"state_{codec}", "shapes": shapes, "codec": codec}
        donor.ask("share", epoch=12, rate=0.25, **at, **{"in": str(cast.folder / "state.in")})
        # hivemind may declare itself once before it was told its priority.
        deadline = time.monotonic() + 15
        while (got := taker.ask("download", **at, out=str(cast.folder / "state.out")))["priority"] != 12 and time.monotonic() < deadline:
            time.sleep(0.5)
        assert got["epoch"] == 12 and got["priority"] == 12 and not got["native"] and got["donor"] == donor.peer, got
        off = numpy.abs(numpy.fromfile(cast.folder / "state.out", dtype="<f4") - values).max()
        assert off <= worst, (codec, off)
    # The other way: ours to hivemind's, with hivemind's own words about its optimizer.
    at = {"prefix": "given_on", "shapes": shapes, "codec": "float16"}
    taker.ask("share", epoch=13, metadata=got["metadata"], **at, **{"in": str(cast.folder / "state.out")})
    loader = cast.hivemind(taker.addresses[0])
    loaded = loader.ask("download", **at, rate=0.1, out=str(cast.folder / "loaded.out"))
    assert loaded["epoch"] == 13 and loaded["rate"] == 0.25 and loaded["momentum"] == 0.9, loaded
    off = numpy.abs(numpy.fromfile(cast.folder / "loaded.out", dtype="<f4") - values).max()
    assert off <= 1.6e-2, off


def both(test):
    name = test.__name__.replace("_", " ")
    return [(f"{name}: {a} with {b}", lambda cast, a=a, b=b: test(cast, a, b)) for a, b in (("waggle", "hivemind"), ("hivemind", "waggle"))]


SCENARIOS = [
    *both(a_pair),
    ("two of each kind, every codec", rounds_with_every_codec),
    ("a full group begins at once", a_full_group_begins_at_once),
    *both(clients_take_part),
    ("a waggle member vanishes", lambda cast: a_member_that_vanishes_costs_its_part(cast, "waggle")),
    ("a hivemind member vanishes", lambda cast: a_member_that_vanishes_costs_its_part(cast, "hivemind")),
    ("states both ways", states_from_hivemind),
]
