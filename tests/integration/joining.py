"""Tasks joined, switched between and left while a node runs; the public directory and cards that join nothing."""
import json
import pathlib
import socket

from bad_days import eventually
from harness import scenario, start
from swarm import lay_out_task, run


def send(process, **command):
    """One command over the API; the status line and body of the answer."""
    body = json.dumps(command).encode()
    with socket.socket(socket.AF_UNIX) as api:
        api.settimeout(10)
        api.connect(str(process.data_dir / "api.sock"))
        api.sendall(b"POST /v1/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                    + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return b"".join(iter(lambda: api.recv(65536), b"")).decode()


def get(process, path):
    """What the API answers, read from JSON."""
    with socket.socket(socket.AF_UNIX) as api:
        api.settimeout(10)
        api.connect(str(process.data_dir / "api.sock"))
        api.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return json.loads(b"".join(iter(lambda: api.recv(65536), b"")).partition(b"\r\n\r\n")[2])


def published(folder, name, prefix, *flags, seed=1):
    """A process that publishes and serves a task, but does not train it; its link."""
    toml = lay_out_task(folder / f"task-{name}", prefix=prefix, seed=seed)
    process = start("publish", toml, *flags, data_dir=folder / name)
    return process, process.wait_for("published", 120)["link"]


def states(process):
    """(prefix, state) of every task, as status tells them."""
    return [(t["prefix"], t["state"]) for t in process.status()["tasks"]]


def bytes_in(folder):
    return sum(f.stat().st_size for f in pathlib.Path(folder).rglob("*") if f.is_file())


@scenario
def a_running_node_joins_switches_and_leaves(folder):
    _, stripes = published(folder, "one", "stripes")
    _, bars = published(folder, "two", "bars", seed=2)
    node = start("node", data_dir=folder / "node")
    node.wait_for("started", 20)
    assert run("join", "waggle:NOT A PREFIX", "--data-dir", node.data_dir)[0] == 2
    assert states(node) == []

    assert run("join", stripes, "--data-dir", node.data_dir)[0] == 0
    node.wait_for("epoch", 120, lambda e: e["epoch"] >= 2)
    eventually(10, "it trains", lambda: states(node) == [("stripes", "training")])
    card = next(k for k in node.status()["known_tasks"] if k["prefix"] == "stripes")
    assert card["joined"] and card["title"] == "Stripes" and card["licence"] == "MIT" and card["fits"], card

    # Another one: the first is saved and waits.
    mark = node.mark()
    assert run("join", bars, "--data-dir", node.data_dir)[0] == 0
    eventually(120, "the other one trains", lambda: states(node) == [("bars", "training"), ("stripes", "waiting")])
    node.wait_for("left", 5, since=mark)
    node.wait_for("epoch", 60, since=mark + 1)
    assert len(node.trainers()) == 1, node.trainers()
    reached = next(t["epoch"] for t in node.status()["tasks"] if t["prefix"] == "stripes")
    assert reached >= 2, node.status()["tasks"]

    # And back, by its name alone: where it was.
    mark = node.mark()
    assert run("join", "stripes", "--data-dir", node.data_dir)[0] == 0
    eventually(120, "the first one trains again", lambda: states(node) == [("stripes", "training"), ("bars", "waiting")])
    trained = node.wait_for("training", 60, lambda e: e["epoch"] >= reached, since=mark)
    node.wait_for("epoch", 60, lambda e: e["epoch"] > trained["epoch"], since=mark)

    # A kill changes nothing about what is joined and which of them trains.
    node.kill()
    again = start("node", data_dir=folder / "node")
    again.wait_for("epoch", 120)
    eventually(10, "the same one trains", lambda: states(again) == [("stripes", "training"), ("bars", "waiting")])

    # Leaving one that waits, then the one that trains: the disk is free.
    assert run("leave", "bars", "--data-dir", again.data_dir)[0] == 0
    freed = again.wait_for("forgotten", 30, lambda e: e["prefix"] == "bars")["freed"]
    assert freed > 50_000, freed
    eventually(10, "the other trains on", lambda: states(again) == [("stripes", "training")])
    assert run("leave", "stripes", "--data-dir", again.data_dir)[0] == 0
    again.wait_for("forgotten", 60, lambda e: e["prefix"] == "stripes")
    eventually(10, "no task is left", lambda: states(again) == [])
    assert again.trainers() == []
    assert bytes_in(again.data_dir / "blobs") == 0 and bytes_in(again.data_dir / "checkpoints") == 0
    assert again.end() == 0


@scenario
def several_operators_are_a_choice_that_a_running_node_shows(folder):
    seed = start("node", data_dir=folder / "seed")
    address = seed.wait_for("started", 20)["addresses"][0]
    for name in ("a", "b"):
        published(folder, name, "stripes", "--peer", address, "--force", seed=ord(name))
    node = start("node", "--peer", address, data_dir=folder / "node")
    node.wait_for("started", 20)

    def choices():
        # The records travel to the seed as soon as they are stored; until then one operator is all there is.
        known = send(node, command="look", link="stripes") and node.status()["known_tasks"]
        return next((k["choices"] for k in known if k["state"] == "choice"), [])

    eventually(60, "both operators are known", lambda: len(choices()) == 2)
    assert states(node) == [], "looking joins nothing"
    assert run("join", "stripes", "--data-dir", node.data_dir)[0] == 0
    eventually(60, "a choice is asked for", lambda: states(node) == [("stripes", "choice")])
    offered = node.status()["tasks"][0]["choices"]
    assert sorted(offered) == sorted(choices()), offered
    assert offered[1] in run("status", "--data-dir", node.data_dir)[1]
    assert run("join", f"waggle:stripes?op={offered[1]}", "--data-dir", node.data_dir)[0] == 0
    node.wait_for("epoch", 120)

    def chosen():
        task = node.status()["tasks"][0]
        return task["operator"], task["state"]

    eventually(10, "the chosen one is trained", lambda: chosen() == (offered[1], "training"))
    assert node.end() == 0


@scenario
def a_public_task_is_found_without_a_link_and_looking_joins_nothing(folder):
    seed = start("node", data_dir=folder / "seed")
    address = seed.wait_for("started", 20)["addresses"][0]
    published(folder, "open", "stripes", "--public", "--peer", address)
    _, private = published(folder, "private", "bars", "--peer", address, seed=2)
    node = start("node", "--peer", address, data_dir=folder / "node")
    node.wait_for("started", 20)
    assert node.status()["known_tasks"] == [], "nobody asked yet"

    def cards(source):
        return [k for k in node.status()["known_tasks"] if k["source"] == source and k["state"] == "found"]

    assert " 200 " in send(node, command="browse").splitlines()[0]
    eventually(60, "the public task is listed", lambda: len(cards("directory")) == 1)
    card = cards("directory")[0]
    assert card["prefix"] == "stripes" and card["download"] > 50_000 and card["parameters"] > 1000, card
    assert card["description"].startswith("Tells") and not card["joined"], card
    send(node, command="look", link=private)
    eventually(60, "the link's card is there", lambda: [k["prefix"] for k in cards("link")] == ["bars"])
    assert " 400 " in send(node, command="look", link="waggle:NOT A PREFIX").splitlines()[0]
    assert node.status()["tasks"] == []
    assert bytes_in(node.data_dir / "blobs") == 0, "a card downloads nothing"
    # The listing outlives its operator's process: whoever joined keeps it.
    assert run("join", card["link"], "--data-dir", node.data_dir)[0] == 0
    node.wait_for("epoch", 120)
    assert node.end() == 0


@scenario
def a_card_shows_a_few_samples_before_anything_else_is_downloaded(folder):
    toml = lay_out_task(folder / "task")
    toml.write_text(toml.read_text().replace('licence = "MIT"\n', 'licence = "MIT"\nlabels = ["horizontal", "vertical"]\npreview = 5\n'))
    operator = start("publish", toml, data_dir=folder / "operator")
    link = operator.wait_for("published", 120)["link"]
    node = start("node", data_dir=folder / "node")
    eventually(20, "it listens", (node.data_dir / "api.sock").exists)
    assert get(node, "/v1/snapshot")["version"], "there is a snapshot from the start"
    node.wait_for("started", 20)
    send(node, command="look", link=link)

    def previews():
        return get(node, "/v1/examples").get("previews", [])

    eventually(60, "the preview is there", previews)
    preview = previews()[0]
    assert (preview["prefix"], preview["labels"]) == ("stripes", ["horizontal", "vertical"]), preview
    assert preview["operator"] in link and len(preview["items"]) == 5, preview
    for item in preview["items"]:
        assert (item["channels"], item["height"], item["width"], len(item["pixels"])) == (1, 28, 28, 2 * 28 * 28), item
        assert item["label"] in (0, 1) and item["guesses"] == [], item
    assert node.status()["tasks"] == [], "looking joins nothing"

    def card():  # of the next snapshot: they come once a second
        return next((k for k in node.status()["known_tasks"] if k["prefix"] == "stripes"), {})

    eventually(10, "the card tells what a download takes", lambda: card().get("download", 0) > 50_000)
    assert 0 < bytes_in(node.data_dir / "blobs") < 40_000, "nothing but the preview"
    # Who joins has the preview beside the data, and trains.
    assert run("join", link, "--data-dir", node.data_dir)[0] == 0
    node.wait_for("epoch", 120)
    assert node.end() == 0


@scenario
def a_node_that_still_looks_for_its_task_ends_when_told_over_the_api(folder):
    node = start("run", "nobody-has-this", data_dir=folder / "node")
    node.wait_for("state", 30, lambda e: e["state"] == "finding")
    assert '"ok":true' in send(node, command="stop")
    eventually(10, "it ends", lambda: node.process.poll() is not None)
