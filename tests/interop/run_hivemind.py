#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waggle and hivemind (with go-libp2p's daemon under it) in one swarm, each doing its half.

One line a scenario, then "N passed, N failed, N skipped". Needs interop_hivemind and waggle (WAGGLE_BINARY_DIR, else
build/release); installs hivemind into the build folder. Words on the command line choose scenarios by parts of their names.
"""
import importlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "hivemind"))
import peers  # noqa: E402

counts = {"passed": 0, "failed": 0, "skipped": 0}
saying = threading.Lock()


TRIES = 3


def say(outcome, name, detail=""):
    with saying:
        counts[outcome] += 1
        print(f"{outcome:7} {name}{': ' if detail else ''}{detail}", flush=True)


def attempt(name, scenario):
    """None, or what failed. The detail of a success comes with it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="waggle-hm-"))
    cast = peers.Cast(folder)
    failure = None
    detail = ""
    try:
        detail = scenario(cast) or ""
    except Exception as error:  # a scenario that breaks is a failed one, the others go on
        where = [f"{pathlib.Path(f.filename).name}:{f.lineno}: {f.line}" for f in traceback.extract_tb(error.__traceback__) if "_scenarios" in f.filename]
        failure = f"{type(error).__name__}: {str(error)[:600]} at {where[-1] if where else '?'}, logs in {folder}"
        if name.startswith("dht"):
            peers.end_shared()
    finally:
        cast.end()
        if not failure:
            shutil.rmtree(folder, ignore_errors=True)
    return failure, detail


def run(name, scenario):
    """Both peers have time limits of their own, which a busy machine misses: a failure has two more tries, and says so."""
    begin = time.monotonic()
    note = ""
    for number in range(1, TRIES + 1):
        failure, detail = attempt(name, scenario)
        if not failure or number == TRIES:
            break
        note += f"try {number} of {TRIES}: {failure}; "
    spent = f"({time.monotonic() - begin:.1f} s)"
    if failure:
        say("failed", name, f"{note}{failure} {spent}")
    else:
        say("passed", name, f"{note}{detail}{' ' if detail else ''}{spent}")


def run_group(group, wanted):
    for name, scenario in importlib.import_module(f"{group}_scenarios").SCENARIOS:
        title = f"{group}: {name}"
        if not wanted or any(word in title for word in wanted):
            run(title, scenario)


def missing():
    for program in (peers.WAGGLE, peers.DRIVEN):
        if not program.exists():
            return f"{program} is not built"
    return peers.install()


def main():
    wanted = sys.argv[1:]
    problem = missing()
    if problem:
        say("skipped", "hivemind", problem)
    else:
        # With the environment's Python: the scenarios need numpy.
        if pathlib.Path(sys.prefix) != peers.SCRATCH / "venv":
            python = str(peers.SCRATCH / "venv/bin/python")
            os.execv(python, [python, __file__, *wanted])
        # Training mostly waits, so it goes on beside the DHT. An average does not: its time limits are short.
        training = threading.Thread(target=run_group, args=["training", wanted])
        training.start()
        run_group("dht", wanted)
        peers.end_shared()
        training.join()
        run_group("averaging", wanted)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
