#!/usr/bin/env python3
"""Whether all of core but torch and its rim to the operating system compiles for Windows, by mingw-w64. Nothing is linked or run.

The rim is tests/tools/WINDOWS_RIM: a file a line, and what of the system it stands on. A file that is not listed and does not
compile is a failure; so is a listed one that does. Needs a release build, for its generated headers; some minutes.
Skips itself where there is no compiler for Windows (./bootstrap optional installs one).
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = "x86_64-w64-mingw32-g++-posix"
GENERATED = ROOT / "build/release/generated"

# Libraries that exist for Windows, but not as Debian packages: their headers are those of this system.
HEADERS = ("asio", "asio.hpp", "sodium", "sodium.h", "zstd.h", "zstd_errors.h", "zdict.h", "nlohmann", "toml++", "httplib.h", "spdlog",
           "fmt", "google", "sqlite3.h", "openssl")
DEFINES = ("ASIO_STANDALONE", "ASIO_SEPARATE_COMPILATION", "ASIO_NO_DEPRECATED", "SPDLOG_COMPILED_LIB", "SPDLOG_FMT_EXTERNAL", "WAGGLE_RELEASE_KEY=\"\"", "_WIN32_WINNT=0x0A00")


def borrow_headers(folder):
    for name in HEADERS:
        if (source := pathlib.Path("/usr/include") / name).exists() and name != "openssl":
            (folder / name).symlink_to(source)
    (folder / "openssl").mkdir()
    for place in (pathlib.Path("/usr/include/openssl"), pathlib.Path("/usr/include/x86_64-linux-gnu/openssl")):
        for header in place.glob("*.h"):
            if not (folder / "openssl" / header.name).exists():
                (folder / "openssl" / header.name).symlink_to(header)


def rim():
    lines = (ROOT / "tests/tools/WINDOWS_RIM").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def first_error(source, headers):
    """None where it compiles."""
    command = [COMPILER, "-fsyntax-only", "-std=c++20", "-w", *(f"-D{d}" for d in DEFINES), "-I", ROOT, "-I", GENERATED, "-idirafter", headers, ROOT / source]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return next((line for line in done.stderr.splitlines() if re.search(r"\berror\b", line)), done.stderr[:300])


def main():
    if shutil.which(COMPILER) is None:
        print(f"SKIP  no {COMPILER} is installed; ./bootstrap optional installs it")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    if not GENERATED.exists():
        print(f"{GENERATED} is not there: ./bootstrap build makes it")
        return 2
    known = rim()
    listed = subprocess.run(["git", "ls-files", "core/*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = sys.argv[1:] or [s for s in listed if not s.startswith("core/train/")]
    failed = [f"{name}: listed in WINDOWS_RIM, but there is no such file" for name in known if not (ROOT / name).exists()]
    compiled = 0
    with tempfile.TemporaryDirectory(prefix="waggle-windows-") as folder:
        headers = pathlib.Path(folder)
        borrow_headers(headers)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for source, error in zip(sources, pool.map(lambda s: first_error(s, headers), sources)):
                compiled += error is None
                if error is not None and source not in known:
                    failed.append(error)
                if error is None and source in known:
                    failed.append(f"{source}: compiles, so it is none of the rim any more")
    for line in failed:
        print(f"FAIL  {line}")
    print(f"windows: {compiled} of {len(sources)} files compile, {len(known)} are the rim")
    print(f"{compiled if not failed else 0} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
