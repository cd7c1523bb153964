# SPDX-License-Identifier: MIT
"""Processes of both kinds under one roof: `Driven` speaks JSON lines with peer.py (hivemind) or interop_hivemind (Waggle)."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = ROOT / "tests" / "interop" / "hivemind"
BINARY = pathlib.Path(os.environ.get("WAGGLE_BINARY_DIR", ROOT / "build" / "release"))
WAGGLE = BINARY / "waggle"
DRIVEN = BINARY / "tests" / "interop_hivemind"
SCRATCH = ROOT / "build" / "interop-hivemind"
# Debian's own: python3-torch is built for it.
PYTHON = pathlib.Path("/usr/bin/python3")

INSTALL_S = 300
START_S = 60
ANSWER_S = 60

SHARED = {}


def install():
    """Makes the environment for hivemind once for each state of requirements.txt. Says what is missing, or nothing."""
    requirements = HERE / "requirements.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    mark = SCRATCH / "installed"
    if mark.exists() and mark.read_text() == digest:
        return None
    if not PYTHON.exists():
        return f"{PYTHON} is missing"
    for module in ("torch", "numpy", "yaml", "cryptography", "ensurepip"):
        if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode != 0:
            return f"{PYTHON} has no module {module} (./bootstrap deps installs it)"
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    commands = [
        [PYTHON, "-m", "venv", "--system-site-packages", SCRATCH / "venv"],
        [SCRATCH / "venv/bin/pip", "install", "--quiet", "--no-deps", "--ignore-installed", "--only-binary", "hivemind", "-r", requirements],
        [SCRATCH / "venv/bin/python", "-c", "import hivemind, cid"],
    ]
    for command in commands:
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=INSTALL_S)
        except subprocess.TimeoutExpired:
            return f"{pathlib.Path(command[0]).name} took more than {INSTALL_S} s"
        if done.returncode != 0:
            return f"{pathlib.Path(command[0]).name} failed: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}"
    mark.write_text(digest)
    return None


class Driven:
    """A peer that answers commands; several may be under way. It starts in the background until somebody asks for it."""

    def __init__(self, kind, command, log):
        self.kind = kind
        self.log = open(log, "wb")
        environment = dict(os.environ, OMP_NUM_THREADS="1", HIVEMIND_LOGLEVEL=os.environ.get("HIVEMIND_LOGLEVEL", "INFO"))
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, start_new_session=True, env=environment)
        self.changed = threading.Condition()
        self.said = []
        self.answers = {}
        self.ended = False
        self.next_id = 1
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def peer(self):
        return self._first()["peer"]

    @property
    def addresses(self):
        return self._first()["addresses"]

    def _first(self):
        return self._wait(lambda: self.said or None, START_S, "start")[0]

    def _read(self):
        for line in self.process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue  # what libraries print
            with self.changed:
                if "id" in said:
                    self.answers[said["id"]] = said
                else:
                    self.said.append(said)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _wait(self, found, seconds, what):
        deadline = time.monotonic() + seconds
        with self.changed:
            while (result := found()) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{self.kind}: no answer to {what} within {seconds} s")
                if self.ended:
                    raise AssertionError(f"{self.kind} ended before it answered {what}: {self.last_words()}")
                self.changed.wait(left)
            return result

    def last_words(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(errors="replace").strip()[-300:]

    def begin(self, what, **arguments):
        """Sends a command; the function that is returned waits for its answer."""
        self._first()
        number, self.next_id = self.next_id, self.next_id + 1
        self.process.stdin.write(json.dumps({"do": what, "id": number, **arguments}) + "\n")
        self.process.stdin.flush()

        def end(seconds=ANSWER_S):
            said = self._wait(lambda: self.answers.pop(number, None), seconds, what)
            del said["id"]
            return said
        return end

    def ask(self, what, **arguments):
        said = self.begin(what, **arguments)()
        assert "error" not in said, f"{self.kind}, {what}: {said['error']}"
        return said

    def kill(self):
        kill_group(self.process)


def kill_group(process):
    """With the daemon that hivemind started beside it."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait()


class Cast:
    """Starts peers in a folder of their own and ends them all."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0
        self.running = []

    def _log(self, kind):
        self.count += 1
        return self.folder / f"{self.count}-{kind}.log"

    def hivemind(self, *addresses, client=False):
        words = ["--client"] if client else []
        return self.keep(Driven("hivemind", [SCRATCH / "venv/bin/python", HERE / "peer.py", *words, *addresses], self._log("hivemind")))

    def waggle(self, *addresses, client=False):
        words = ["--client"] if client else []
        return self.keep(Driven("waggle", [DRIVEN, *words, *addresses], self._log("waggle")))

    def peer(self, kind, *addresses, client=False):
        return getattr(self, kind)(*addresses, client=client)

    def pair(self, a, b):
        """The peers of these kinds that all scenarios share which leave them as they found them. They know each other."""
        if not SHARED:
            town = Cast(SCRATCH)
            seed = town.waggle()
            other = town.hivemind(seed.addresses[0])
            SHARED.update(waggle=seed, hivemind=other)
        return SHARED[a], SHARED[b]

    def node(self, *addresses):
        """`waggle node` itself; its address."""
        log = self._log("node")
        peers = [word for address in addresses for word in ("--peer", address)]
        process = subprocess.Popen([str(WAGGLE), "node", "--host", "127.0.0.1", "--json", "--data-dir", str(log.with_suffix("")), *peers],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(log, "wb"), text=True, start_new_session=True)
        return self.keep(Node(process))

    def keep(self, process):
        self.running.append(process)
        return process

    def end(self):
        for process in self.running:
            process.kill()


class Node:
    def __init__(self, process):
        self.process = process
        first = json.loads(process.stdout.readline())
        self.address = first["addresses"][0]

    def kill(self):
        kill_group(self.process)


def end_shared():
    for peer in SHARED.values():
        peer.kill()
    SHARED.clear()
