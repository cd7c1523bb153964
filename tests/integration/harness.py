"""Registers scenarios and runs them, several at once, so that waiting costs no time."""
import concurrent.futures
import io
import pathlib
import re
import shutil
import tempfile
import threading
import time
import traceback

from swarm import Waggle, lay_out_task

SCENARIOS = []
LIGHT_AT_ONCE = 3
HEAVY_AT_ONCE = 2


class Skip(Exception):
    """Raised by a scenario that this machine cannot run; it is counted, and said aloud."""


_of_this_scenario = threading.local()


def scenario(function=None, *, kind="heavy"):
    """"light": next to no processor time; "heavy": trainers run; "alone": so much is measured that only light ones may run beside it."""
    if function is None:
        return lambda f: scenario(f, kind=kind)
    SCENARIOS.append((function, kind))
    return function


def start(*arguments, **keywords):
    """A process that is killed when the scenario ends."""
    process = Waggle(*arguments, **keywords)
    _of_this_scenario.processes.append(process)
    return process


def publisher(folder, name="first", **task):
    """Publishes and trains the task of stripes; the process and its link."""
    toml = lay_out_task(folder / "task", **task)
    process = start("publish", toml, "--run", data_dir=folder / name)
    return process, process.wait_for("published", 120)["link"]


def averaged_with(size):
    return lambda event: event["averaged"] and event["group_size"] >= size


def nobody_was_called_a_liar(folder):
    """All peers here are honest: whoever refuses an average or a state took one of them for a liar."""
    for log in folder.rglob("*.log"):
        refused = [line for line in log.read_text(errors="replace").splitlines() if re.search(r"averaged is refused|state of \S+ refused: (offers|its state has)", line)]
        assert not refused, (log, refused[:3])


def _run_one(function):
    """(outcome, the lines to print)."""
    out = io.StringIO()
    _of_this_scenario.processes = []
    folder = pathlib.Path(tempfile.mkdtemp(prefix="waggle-it-"))
    begin = time.monotonic()
    took = lambda: f"{time.monotonic() - begin:.1f} s"  # noqa: E731
    outcome = "failed"
    try:
        function(folder)
        nobody_was_called_a_liar(folder)
        outcome = "passed"
        print(f"ok    {function.__name__} ({took()})", file=out)
    except Skip as why:
        outcome = "skipped"
        print(f"SKIP  {function.__name__}: {why}", file=out)
    except Exception:
        print(f"FAIL  {function.__name__} ({took()}), kept in {folder}", file=out)
        traceback.print_exc(file=out)
    finally:
        for process in _of_this_scenario.processes:
            process.kill()
        if outcome != "failed":
            shutil.rmtree(folder, ignore_errors=True)
    return outcome, out.getvalue()


def run_scenarios(wanted):
    """Runs those named (all if none); the exit status."""
    unknown = [name for name in wanted if name not in {f.__name__ for f, _ in SCENARIOS}]
    if unknown:
        print(f"unknown scenario {unknown[0]}; known are: {' '.join(f.__name__ for f, _ in SCENARIOS)}")
        return 2
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    printing = threading.Lock()

    def run_and_say(function):
        outcome, text = _run_one(function)
        with printing:
            counts[outcome] += 1
            print(text, end="", flush=True)

    def of_kind(kind):
        return [f for f, k in SCENARIOS if k == kind and (not wanted or f.__name__ in wanted)]

    with concurrent.futures.ThreadPoolExecutor(LIGHT_AT_ONCE) as beside:
        light = [beside.submit(run_and_say, f) for f in of_kind("light")]
        for function in of_kind("alone"):
            run_and_say(function)
        with concurrent.futures.ThreadPoolExecutor(HEAVY_AT_ONCE) as heavy:
            list(heavy.map(run_and_say, of_kind("heavy")))
        for one in light:
            one.result()
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0
