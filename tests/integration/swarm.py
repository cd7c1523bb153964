"""Real waggle processes for the integration tests: a small task, processes that print events, and waiting for what they say."""
import gzip
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WAGGLE_BINARY_DIR", ROOT / "build" / "release"))
WAGGLE = BUILD / "waggle"

TASK = """
[task]
prefix = "{prefix}"
title = "Stripes"
description = "Tells horizontal stripes from vertical ones."
[model]
family = "resnet"
depth = 8
width = {width}
stem = "cifar-s2"
in_channels = 1
classes = 2
[data]
format = "idx-images"
train = ["train-images.gz", "train-labels.gz"]
test = ["test-images.gz", "test-labels.gz"]
licence = "MIT"
mean = [0.5]
std = [0.25]
[train]
optimizer = "sgd"
learning_rate = {rate}
momentum = 0.9
weight_decay = {decay}
micro_batch = {micro_batch}
[swarm]
target_batch_size = {target}
compression = "{codec}"
state_compression = "float16"
matchmaking_time = 5
delayed = {delayed}
"""


def write_idx(path, shape, values):
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(">HBB", 0, 8, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + bytes(values))


def lay_out_task(folder, prefix="stripes", target=96, codec="size_adaptive", seed=1, width=8, rate=0.05, decay=0.0, delayed=False, micro_batch=16):
    """A task file and its data: 28×28 pictures of noisy stripes, horizontal or vertical."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    for part, count in (("train", 512), ("test", 128)):
        pixels, labels = bytearray(), []
        for _ in range(count):
            label = rng.randrange(2)
            period = rng.choice((3, 4, 5))
            labels.append(label)
            for y in range(28):
                for x in range(28):
                    stripe = 160 if ((x if label else y) // period) % 2 else 60
                    pixels.append(min(255, max(0, stripe + rng.randrange(-50, 51))))
        write_idx(folder / f"{part}-images.gz", (count, 28, 28), pixels)
        write_idx(folder / f"{part}-labels.gz", (count,), labels)
    toml = folder / "task.toml"
    toml.write_text(TASK.format(prefix=prefix, target=target, codec=codec, width=width, rate=rate, decay=decay, delayed=str(delayed).lower(), micro_batch=micro_batch))
    return toml


class Waggle:
    """One process; its events are collected as they come."""

    def __init__(self, *arguments, data_dir, extra=("--host", "127.0.0.1", "--threads", "1", "--always"), env=None, before=()):
        """`env`: variables beside ours; `before`: words in front of the program, that run it elsewhere."""
        self.data_dir = pathlib.Path(data_dir)
        self.events = []
        self.changed = threading.Condition()
        self.log = open(str(self.data_dir) + ".log", "ab")
        self.process = subprocess.Popen([*before, str(WAGGLE), *map(str, arguments), "--data-dir", str(self.data_dir), "--json", *extra],
                                        env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                event = {"event": "unreadable", "line": line}
            with self.changed:
                self.events.append(event)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, kind, seconds, test=lambda event: True, since=0):
        """The first event of this kind, at or after index `since`, that passes the test."""
        deadline = time.monotonic() + seconds
        at = since
        with self.changed:
            while True:
                while at < len(self.events):
                    event = self.events[at]
                    at += 1
                    if event.get("event") == kind and test(event):
                        return event
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{self.data_dir.name}: no {kind} within {seconds} s; last: {self.events[-3:]}")
                if self.process.poll() is not None and not self.reader.is_alive():
                    raise AssertionError(f"{self.data_dir.name}: ended with {self.process.returncode} before {kind}; last: {self.events[-3:]}")
                self.changed.wait(min(left, 0.5))

    def text(self):
        """What it wrote to standard error so far."""
        return pathlib.Path(str(self.data_dir) + ".log").read_text(errors="replace")

    def status(self):
        code, out, err = run("status", "--data-dir", self.data_dir, "--json")
        assert code == 0, err
        return json.loads(out)

    def mark(self):
        return len(self.events)

    def epoch(self):
        return max((e["epoch"] for e in self.events if e.get("event") == "epoch"), default=0)

    def end(self, number=signal.SIGTERM, seconds=60):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=seconds)
        self.reader.join(timeout=5)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def trainers(self):
        """Pids of its waggle-trainer children."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    name = (entry / "comm").read_text().strip()
                except (OSError, IndexError):
                    continue
                if int(fields[1]) == self.process.pid and name.startswith("waggle-trainer"):
                    found.append(int(entry.name))
        return found


def run(*arguments, seconds=60):
    """One short command; (exit code, stdout, stderr)."""
    done = subprocess.run([str(WAGGLE), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout, done.stderr
