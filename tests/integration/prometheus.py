"""A strict reader of Prometheus' text form 0.0.4, and promtool where it is installed."""
import re
import shutil
import subprocess

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')
VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|[+-]Inf")
BASE_UNITS = ("_seconds", "_bytes", "_ratio", "_celsius", "_watts", "_total", "_info")
NO_BASE_UNITS = ("_ms", "_milliseconds", "_minutes", "_hours", "_kb", "_mb", "_gib", "_percent")


def parse(text):
    """{name: {labels: value}}; raises AssertionError at the first thing that is not as it must be."""
    assert text.endswith("\n"), "the last line has no end"
    families, samples = {}, {}
    current = None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name, _, help_text = line[7:].partition(" ")
            assert NAME.fullmatch(name) and help_text, line
            assert name not in families, f"{name} is described twice"
            families[name] = None
            current = name
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name == current and families[name] is None, f"TYPE without its HELP before: {line}"
            assert kind in ("counter", "gauge"), line
            assert (kind == "counter") == name.endswith("_total"), f"a counter ends in _total, and only it: {line}"
            assert not name.endswith(NO_BASE_UNITS), f"no base unit: {name}"
            families[name] = kind
        else:
            name = NAME.match(line)[0]
            assert name == current and families[name], f"a sample outside of its family: {line}"
            rest, labels = line[len(name):], {}
            if rest.startswith("{"):
                rest = rest[1:]
                while not rest.startswith("}"):
                    found = LABEL.match(rest)
                    assert found and found[1] not in labels, line
                    labels[found[1]] = found[2]
                    rest = rest[found.end():].removeprefix(",")
                rest = rest[1:]
            assert rest.startswith(" ") and VALUE.fullmatch(rest[1:]), line
            key = tuple(sorted(labels.items()))
            assert key not in samples.setdefault(name, {}), f"twice: {line}"
            samples[name][key] = float(rest[1:])
            assert families[name] != "counter" or samples[name][key] >= 0, line
    return samples


def check(text):
    """parse(), and promtool's opinion if it can be had; whether it could."""
    samples = parse(text)
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stdout + done.stderr
    return samples, bool(promtool)
