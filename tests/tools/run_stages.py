#!/usr/bin/env python3
"""Runs the test stages in order, prints each stage's minutes, ends with "N passed, N failed, N skipped".

A stage is a list of commands. Counts come from doctest's summary lines, from lines of the form
"N passed, N failed, N skipped", and otherwise one a command.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

DOCTEST = re.compile(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
FAILURE = re.compile(r"^(FAIL|not ok|.*\bERROR: |.*\berror: |.*\bCRASHED\b)")
AFTER_A_FAILURE = 20  # lines
MOST_FAILURE_LINES = 200
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()
        self.failures = []  # lines around each, said once more at the very end

    def add(self, passed, failed, skipped, failures=()):
        with self.lock:
            self.failures += failures
            self.passed += passed
            self.failed += failed
            self.skipped += skipped


def built(preset, *targets):
    """Commands that configure (once) and build these targets of a preset."""
    commands = []
    if not (BUILD / preset / "build.ninja").exists():
        commands.append(["cmake", "--preset", preset, "-DWAGGLE_WERROR=ON"])
    commands.append(["cmake", "--build", "--preset", preset, "--target", *targets])
    return commands


def programs(preset, pattern):
    """Test programs of a build, named by a glob; found when the stage runs, after its build."""
    return lambda: [[str(p)] for p in sorted((BUILD / preset / "tests").glob(pattern)) if os.access(p, os.X_OK) and p.is_file()]


PROGRAMS = built("release", "waggle", "waggle-trainer", "waggle-flood")

# What needs torch is built once, in release: torch's own code is not clean under every sanitizer.
STAGES = {
    "layers": [["python3", "tests/tools/check_layers.py"], ["tests/tools/check_format.sh"]],
    "unit": built("asan", "unit_tests") + built("release", "unit_train", "unit_worker", "waggle-trainer")
    + [programs("asan", "unit_*"), programs("release", "unit_train"), programs("release", "unit_worker")],
    "vectors": built("asan", "vectors_tests") + [programs("asan", "vectors_*")],
    "fuzz": built("fuzz", "fuzz") + [["tests/fuzz/run.sh"]],
    "sim": built("release", "sim_tests", "sim_dht") + [programs("release", "sim_*")],
    "integration": PROGRAMS + [["python3", "tests/integration/run.py"], ["tests/integration/check_demo"]],
    "ui": built("release", "waggle", "waggle-trainer", "ui_shot") + [["python3", "tests/ui/run.py"]],
    "web": built("release", "waggle", "waggle-trainer") + [["python3", "tests/web/run.py"]],
    "installer": built("release", "waggle", "waggle-trainer", "waggle-launcher", "unit_installer")
    + [["build/release/tests/unit_installer"], ["python3", "tests/installer/run.py"]],
    "interop-libp2p": built("release", "interop_peer") + [["python3", "tests/interop/run_js.py"]],
    "interop-hivemind": built("release", "interop_hivemind", "waggle", "waggle-trainer") + [["python3", "tests/interop/run_hivemind.py"]],
}


def around_failures(lines):
    """The lines that name a failure, each with those after it."""
    kept, until = [], 0
    for number, line in enumerate(lines):
        if FAILURE.match(line):
            until = number + AFTER_A_FAILURE
        if number < until:
            kept.append(line)
    return kept or lines[-AFTER_A_FAILURE:]


def run(command, counts, say=lambda line: print(line, flush=True)):
    """Runs one command, says its output, adds its counts. A build command only counts when it fails."""
    environment = dict(os.environ, WAGGLE_SOURCE_DIR=str(ROOT), WAGGLE_BINARY_DIR=str(BUILD / "release"))
    building = command[0] == "cmake"
    say("$ " + " ".join(command))
    seen = Counts()
    said = False
    lines = []
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        plain = COLOUR.sub("", line.rstrip())
        lines.append(plain)
        if not building or not re.match(r"^\[\d+/\d+\] (Building|Linking|Running|Re-running)", plain):
            say(plain)
        if match := DOCTEST.search(plain):
            seen.add(int(match[2]), int(match[3]), int(match[4]))
            said = True
        elif match := PLAIN.match(plain):
            seen.add(int(match[1]), int(match[2]), int(match[3] or 0))
            said = True
    code = process.wait()
    trouble = [] if code == 0 else ["$ " + " ".join(command), *around_failures(lines)]
    if building:
        counts.add(0, 0 if code == 0 else 1, 0, trouble)
        return code == 0
    if not said:
        seen.add(1 if code == 0 else 0, 0, 0)
    if code != 0 and seen.failed == 0:
        seen.failed += 1
        say(f"exit status {code}: {' '.join(command)}")
    counts.add(seen.passed, seen.failed, seen.skipped, trouble)
    return code == 0


def run_programs(commands, counts):
    """Test programs, one a core, the largest first; each one's output stays together."""
    saying = threading.Lock()

    def one(command):
        lines = []
        run(command, counts, lines.append)
        with saying:
            print("\n".join(lines), flush=True)

    by_size = sorted(commands, key=lambda command: -os.path.getsize(command[0]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(one, by_size))


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(STAGES))
        return 0
    unknown = [n for n in names if n not in STAGES]
    if unknown:
        print(f"unknown stage {unknown[0]}; known are: {' '.join(STAGES)}", file=sys.stderr)
        return 2
    total = Counts()
    minutes = []
    for name in names or STAGES:
        print(f"\n== stage {name}", flush=True)
        begin = time.monotonic()
        counts = Counts()
        for step in STAGES[name]:
            if callable(step):
                commands = step()
                if not commands:
                    print("no test program found", flush=True)
                    counts.failed += 1
                run_programs(commands, counts)
            # A failed build makes the rest of the stage pointless; a failed test does not.
            elif not run(step, counts) and step[0] == "cmake":
                break
        minutes.append((name, (time.monotonic() - begin) / 60, counts))
        total.add(counts.passed, counts.failed, counts.skipped, counts.failures)
    if total.failures:
        print("\n== what failed")
        print("\n".join(total.failures[:MOST_FAILURE_LINES]))
    print("\nstage            minutes  passed  failed  skipped")
    for name, spent, counts in minutes:
        print(f"{name:<16} {spent:7.1f} {counts.passed:7d} {counts.failed:7d} {counts.skipped:8d}")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
