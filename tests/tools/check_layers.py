#!/usr/bin/env python3
"""Fails on an include that crosses a layer, on a header without a mirrored test, on the clock or chance behind Runtime's back.

The modules and who may include whom are read from core/*/CMakeLists.txt (DEPS of waggle_module): one table, used by the
linker and by this check alike.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = re.compile(r"waggle_module\((\w+)(.*?)\)", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)

# Third-party headers and the only places that may include them.
THIRD_PARTY = {
    r"^(torch|ATen|c10)/": r"^core/train/.*\.cpp$",
    r"^sqlite3\.h$": r"^core/store/.*\.cpp$",
    r"^sodium": r"^core/crypto/.*\.cpp$",
    r"^openssl/": r"^core/crypto/.*\.cpp$",
    r"^zstd": r"^core/(compress|blob)/.*\.cpp$|^core/node/control/messages\.cpp$",
    r"^spdlog/": r"^core/base/.*\.cpp$",
    r"^msgpack": r"^core/wire/.*\.cpp$",
    r"^toml": r"^core/(task|node)/.*\.cpp$|^core/task/strict_toml\.hpp$",
    r"^httplib": r"^(core/node|app)/.*\.cpp$",
    r"^CLI/": r"^app/",
    r"^(imgui|backends/imgui)": r"^ui/",
    r"^GLFW": r"^ui/(keys|offscreen|surface|window)\.[ch]pp$",
}
# Production code reads time, chance and threads only through Runtime and base.
FORBIDDEN = [
    (re.compile(r"(steady_clock|system_clock)::now\(|std::random_device|asio::detached|std::this_thread::sleep"), r"^core/base/"),
    (re.compile(r"asio::(steady|system|high_resolution)_timer"), r"^core/base/"),
]


# The window sees a node by its Snapshot and Commands alone; core never sees the window.
UI_MAY = re.compile(r"^(ui/|core/base/|core/node/(snapshot|commands|examples)\.hpp$|core/device/tray\.hpp$)")


def allowed_modules():
    """Module → modules whose headers it may include. worker/trainer is the module worker_trainer."""
    table = {}
    for file in sorted(ROOT.glob("core/**/CMakeLists.txt")):
        for name, body in MODULE.findall(file.read_text()):
            words = body.split()
            deps = []
            if "DEPS" in words:
                for word in words[words.index("DEPS") + 1:]:
                    if word.isupper():
                        break
                    deps.append(word)
            table[name] = set(deps)
    return table


def module_of(path):
    parts = path.split("/")
    if parts[:3] == ["core", "worker", "trainer"]:
        return "worker_trainer"
    return parts[1]


def check_includes(problems):
    table = allowed_modules()
    for file in sorted(list(ROOT.glob("core/**/*.[ch]pp")) + list(ROOT.glob("ui/**/*.[ch]pp")) + list(ROOT.glob("app/**/*.[ch]pp"))):
        path = file.relative_to(ROOT).as_posix()
        text = file.read_text()
        for _, include in INCLUDE.findall(text):
            if path.startswith("core/") and include.startswith("core/"):
                me, other = module_of(path), module_of(include)
                if other != me and other not in table.get(me, set()):
                    problems.append(f"{path}: core/{me} may not include {include}")
                if "/detail/" in include and other != me:
                    problems.append(f"{path}: {include} is private to core/{other}")
            if path.startswith("core/") and include.startswith(("app/", "ui/", "tests/")):
                problems.append(f"{path}: core may not include {include}")
            if path.startswith("ui/") and include.startswith(("core/", "app/", "tests/")) and not UI_MAY.match(include):
                problems.append(f"{path}: the window may not include {include}")
            for pattern, place in THIRD_PARTY.items():
                if re.search(pattern, include) and not re.search(place, path):
                    problems.append(f"{path}: <{include}> belongs elsewhere ({place})")
        for pattern, place in FORBIDDEN:
            if not re.search(place, path) and not path.startswith(("app/", "core/worker/trainer/", "core/train/")) and (m := pattern.search(text)):
                problems.append(f"{path}: {m[0]} is Runtime's business")


def check_mirrors(problems):
    untested = ROOT / "tests/unit/UNTESTED"
    excused = {line.split()[0] for line in untested.read_text().splitlines() if line and not line.startswith("#")} if untested.exists() else set()
    for header in sorted(ROOT.glob("core/**/*.hpp")):
        path = header.relative_to(ROOT).as_posix()
        if "/detail/" in path:
            continue  # private to its module: tested through the headers above it
        mirror = ROOT / "tests/unit" / header.relative_to(ROOT / "core").parent / f"{header.stem}_test.cpp"
        flat = ROOT / "tests/unit" / header.relative_to(ROOT / "core").parts[0] / f"{header.stem}_test.cpp"
        if not mirror.exists() and not flat.exists() and path not in excused:
            problems.append(f"{path}: no {mirror.relative_to(ROOT)} and no line in tests/unit/UNTESTED")
    for path in sorted(excused):
        if not (ROOT / path).exists():
            problems.append(f"tests/unit/UNTESTED: {path} is gone")


def main():
    problems = []
    check_includes(problems)
    check_mirrors(problems)
    print("\n".join(problems) if problems else "layers: every include follows its arrow, every core header has its test")
    print(f"{0 if problems else 1} passed, {len(problems)} failed, 0 skipped")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
