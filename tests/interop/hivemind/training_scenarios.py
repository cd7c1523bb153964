# SPDX-License-Identifier: MIT
"""hivemind.Optimizer and core/optim in one training run: a PyTorch script (trainer.py) and `waggle` train the stripes task."""
import json
import os
import pathlib
import subprocess
import sys
import threading

import numpy

import peers
import stripes

sys.path.insert(0, str(peers.ROOT / "tests" / "integration"))
from swarm import Waggle, lay_out_task, run  # noqa: E402

# Alone a peer takes some seconds for an epoch, so that nobody chases anybody.
TARGET = 1024


class Script(Waggle):
    """trainer.py; its events are collected as those of a waggle process are."""

    def __init__(self, *arguments, data_dir):
        self.data_dir = pathlib.Path(data_dir)
        self.events = []
        self.changed = threading.Condition()
        self.log = open(str(self.data_dir) + ".log", "ab")
        self.process = subprocess.Popen([peers.SCRATCH / "venv/bin/python", peers.HERE / "trainer.py", *map(str, arguments)],
                                        env=dict(os.environ, OMP_NUM_THREADS="1"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def kill(self):
        peers.kill_group(self.process)


def start_task(cast, optimizer, codec, state_codec):
    """A publisher that does not train; the link and its address."""
    toml = lay_out_task(cast.folder / "task", target=TARGET, codec=codec)
    text = toml.read_text()
    changes = [('state_compression = "float16"', f'state_compression = "{state_codec}"')]
    if optimizer == "adamw":
        changes += [('optimizer = "sgd"', 'optimizer = "adamw"'), ("learning_rate = 0.05", "learning_rate = 0.003"), ("momentum = 0.9\n", "")]
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    toml.write_text(text)
    publisher = cast.keep(Waggle("publish", toml, data_dir=cast.folder / "publisher"))
    link = publisher.wait_for("published", 60)["link"]
    return link, publisher.wait_for("started", 60)["addresses"][0]


def start_script(cast, *settings):
    return cast.keep(Script("stripes", cast.folder / "task", cast.folder / "dumps", TARGET, *settings, data_dir=cast.folder / "script"))


def together(event):
    return event["group_size"] == 2


def weights_of(folder, data_dir):
    """The epoch of an exported model, and name → values."""
    code, out, err = run("export", "stripes", "--data-dir", data_dir, "--to", folder / "w.safetensors", "--json", seconds=180)
    assert code == 0, err
    raw = (folder / "w.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    values = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            values[name] = numpy.frombuffer(raw[8 + size + begin:8 + size + end], dtype="<f4")
    return json.loads(out)["epoch"], values


def same_parameters(cast, waggle, worst):
    """At the epoch at which Waggle stopped, right after the average of state."""
    epoch, ours = weights_of(cast.folder, waggle.data_dir)
    theirs = numpy.fromfile(cast.folder / "dumps" / f"{epoch}.bin", dtype="<f4")
    at, largest = 0, 0
    for name, parameter in stripes.Net().named_parameters():
        off = numpy.abs(ours[name] - theirs[at:at + parameter.numel()]).max()
        largest = max(largest, off)
        assert off <= worst, f"epoch {epoch}: {name} is off by {off}"
        at += parameter.numel()
    return largest


def train(cast, script_first, optimizer, codec, state_codec, worst):
    """Whoever comes second loads the first one's state; then they end epochs together, in groups of two for gradients and for
    state; when Waggle leaves, the script goes on alone from the same parameters."""
    link, address = start_task(cast, optimizer, codec, state_codec)
    if script_first:
        script = start_script(cast, optimizer, codec, state_codec, address)
        script.wait_for("epoch", 60)
        waggle = cast.keep(Waggle("run", link, data_dir=cast.folder / "waggle"))
        waggle.wait_for("training", 60)
    else:
        waggle = cast.keep(Waggle("run", link, data_dir=cast.folder / "waggle"))
        waggle.wait_for("epoch", 60)
        script = start_script(cast, optimizer, codec, state_codec, address)
        began = script.wait_for("loaded", 60)
        assert began["epoch"] > 0 and not began["changed"], began
    first = script.wait_for("epoch", 90, together)
    for _ in range(2):
        first = script.wait_for("epoch", 60, lambda e: together(e) and e["epoch"] > first["epoch"])
    ours = waggle.wait_for("epoch", 30, lambda e: e["epoch"] == first["epoch"])
    assert ours["averaged"] and ours["group_size"] == 2 and ours["state"] and len(ours["state"]["group"]) == 2, ours
    assert ours["gradients"]["fraction"] == 1, ours
    last = first["epoch"] + 2
    code, _, err = run("finish", "--at-epoch", str(last), "--data-dir", waggle.data_dir)
    assert code == 0, err
    assert waggle.process.wait(90) == 0
    waggle.reader.join(5)
    script.wait_for("epoch", 30, lambda e: e["epoch"] == last and together(e))
    worst_seen = same_parameters(cast, waggle, worst)
    script.wait_for("epoch", 60, lambda e: e["epoch"] > last)
    return f"epoch {last}, parameters differ by {worst_seen:.1e}"


SCENARIOS = [
    ("a script joins waggle's run, AdamW", lambda cast: train(cast, False, "adamw", "float16", "float16", 2e-2)),
    ("waggle joins a script's run, SGD", lambda cast: train(cast, True, "sgd", "size_adaptive", "none", 1e-5)),
]
