#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our Swarm and js-libp2p talk, each dialling the other.

One line a scenario, then "N passed, N failed, N skipped". Needs interop_peer (WAGGLE_BINARY_DIR, else build/release)
and Node.js; installs the js peer into the build folder. Without Node.js or the network all is skipped.
"""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("WAGGLE_BINARY_DIR", ROOT / "build" / "release"))
OURS = BINARY / "tests" / "interop_peer"
SOURCE = ROOT / "tests" / "interop" / "js"
SCRATCH = ROOT / "build" / "interop-js"

MIB = 1 << 20
START_S = 40
DIAL_S = 120
WRONG_ID = "12D3KooWPqT2nMDSiXUSx5D7fasaxhxKigVhcqfkKqrLghCq9jxz"

counts = {"passed": 0, "failed": 0, "skipped": 0}


def say(outcome, name, detail=""):
    counts[outcome] += 1
    print(f"{outcome:7} {name}{': ' if detail else ''}{detail}", flush=True)


def node_command():
    node = os.environ.get("WAGGLE_NODE") or shutil.which("node")
    if not node:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v")
    major = int(version.split(".")[0] or 0)
    if major < 18:
        return None
    flags = ["--experimental-global-customevent", "--experimental-global-webcrypto"] if major < 20 else []
    return [node, *flags, str(SCRATCH / "peer.mjs")]


def install():
    """Copies the js peer and installs its packages, once for each state of the lock file."""
    npm = shutil.which("npm")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for name in ("peer.mjs", "polyfill.mjs", "package.json", "package-lock.json"):
        shutil.copyfile(SOURCE / name, SCRATCH / name)
    digest = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
    mark = SCRATCH / "node_modules" / ".waggle-installed"
    if mark.exists() and mark.read_text() == digest:
        return None
    if not npm:
        return "npm is missing"
    done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=SCRATCH, capture_output=True, text=True)
    if done.returncode != 0:
        return "npm ci failed: " + done.stderr.strip().splitlines()[-1][:200]
    mark.write_text(digest)
    return None


class Listener:
    """A peer that listens; its first line says where."""

    def __init__(self, command, *options):
        self.process = subprocess.Popen([*command, "listen", "--port", "0", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        watchdog = threading.Timer(START_S, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise RuntimeError("the listener said nothing")
        self.said = json.loads(line)
        self.address = self.said["addrs"][0]
        self.peer = self.said["peerId"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def dial(command, address, *options):
    """What the dialling peer printed, and its exit status."""
    done = subprocess.run([*command, "dial", address, *options], capture_output=True, text=True, timeout=DIAL_S)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"no answer, status {done.returncode}, {done.stderr.strip()[-200:]}")
    return json.loads(lines[-1])


def scenario(name, run):
    try:
        problem, detail = run()
    except Exception as error:  # a scenario that breaks is a failed one, the others go on
        problem, detail = f"{type(error).__name__}: {error}", ""
    if problem:
        say("failed", name, str(problem)[:400])
    else:
        say("passed", name, detail)


def expect(condition, said, detail=""):
    return (None if condition else json.dumps(said), detail)


def rate(said):
    return f"{said.get('MiBps', 0):.1f} MiB/s"


def talks(title, dialer, listener_command, listener_options=(), dialer_options=(), full=True):
    """All scenarios between one kind of dialler and one kind of listener."""
    try:
        listener = Listener(listener_command, *listener_options)
    except Exception as error:
        say("failed", f"{title}: listen", str(error))
        return

    def ask(*options):
        return dial(dialer, listener.address, *options, *dialer_options)

    def identify():
        said = ask("--identify")
        about = said.get("identify") or {}
        served = about.get("protocols", [])
        good = said["ok"] and said["remotePeer"] == listener.peer and "/ipfs/ping/1.0.0" in served \
            and "/ipfs/kad/1.0.0" in served and "/interop/echo/1.0.0" in served
        signed = about.get("signedPeerRecord", "absent")
        good = good and signed is not None and bool(about.get("listenAddrs"))
        return expect(good, said, about.get("agentVersion", ""))

    def transfer(protocol, field, size):
        def run():
            said = ask("--protocol", protocol, "--bytes", str(size))
            return expect(said["ok"] and said.get(field) == size, said, rate(said))
        return run

    def pings():
        said = ask("--ping", "--count", "5")
        return expect(said["ok"] and len(said["pingSameStreamMs"]) == 5, said,
                      f"median {said.get('pingMedianMs')} ms")

    def unknown():
        said = ask("--protocol", "/interop/unknown/1.0.0", "--bytes", "10")
        return expect(not said["ok"], said, said.get("error", ""))

    def wrong_id():
        said = dial(dialer, listener.address.rsplit("/p2p/", 1)[0] + "/p2p/" + WRONG_ID, *dialer_options)
        return expect(not said["ok"], said, said.get("error", ""))

    def find_node():
        said = ask("--find-node", listener.peer)
        # The reply names the peer itself: that is how others decide to keep it in their tables.
        closest = said.get("closest", {})
        return expect(said["ok"] and closest.get("replyBytes", 0) > 2, said, f"{closest.get('replyBytes')} bytes")

    try:
        scenario(f"{title}: identify", identify)
        scenario(f"{title}: echo 1 MiB", transfer("/interop/echo/1.0.0", "echoed", MIB))
        if full:
            scenario(f"{title}: sink 1 MiB", transfer("/interop/sink/1.0.0", "counted", MIB))
            scenario(f"{title}: source 1 MiB", transfer("/interop/source/1.0.0", "received", MIB))
            scenario(f"{title}: echo 0 bytes", transfer("/interop/echo/1.0.0", "echoed", 0))
            scenario(f"{title}: ping", pings)
            scenario(f"{title}: an unknown protocol is refused", unknown)
            scenario(f"{title}: a wrong peer id is refused", wrong_id)
            scenario(f"{title}: find node", find_node)
            scenario(f"{title}: sink 64 MiB", transfer("/interop/sink/1.0.0", "counted", 64 * MIB))
            scenario(f"{title}: source 64 MiB", transfer("/interop/source/1.0.0", "received", 64 * MIB))
            scenario(f"{title}: echo 32 MiB", transfer("/interop/echo/1.0.0", "echoed", 32 * MIB))
        if listener.process.poll() is not None:
            say("failed", f"{title}: the listener stays alive")
    finally:
        listener.stop()


def vector_key(kind):
    vectors = json.loads((ROOT / "tests" / "vectors" / "libp2p.json").read_text())
    return next(key["private_key_protobuf"] for key in vectors["keys"] if key["type"] == kind)


def main():
    if not OURS.exists():
        say("skipped", "js-libp2p", f"{OURS} is not built")
    else:
        js = node_command()
        problem = "Node.js 18 or newer is missing" if js is None else install()
        if problem:
            say("skipped", "js-libp2p", problem)
        else:
            ours = [str(OURS)]
            talks("waggle dials js", ours, js)
            talks("js dials waggle", js, ours)
            for kind in ("RSA", "secp256k1"):
                key = ["--key-hex", vector_key(kind)]
                talks(f"waggle dials js with {kind}", ours, js, listener_options=key, full=False)
                talks(f"js with {kind} dials waggle", js, ours, dialer_options=key, full=False)
                talks(f"waggle with {kind} dials js", ours, js, dialer_options=key, full=False)
                talks(f"js dials waggle with {kind}", js, ours, listener_options=key, full=False)
            # With two muxers on its list js's handshake is longer, yamux is still what both have.
            talks("waggle dials js with two muxers", ours, js, listener_options=["--mplex"], full=False)
            talks("js with two muxers dials waggle", js, ours, dialer_options=["--mplex"], full=False)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
