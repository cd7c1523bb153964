#!/usr/bin/env python3
"""The single file and the package, made from build/release and used as a volunteer's machine would: an empty home, a damaged
download, a link in the way, a folder where nothing may run. One line a check; ends with "N passed, N failed, N skipped"."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WAGGLE_BINARY_DIR", ROOT / "build/release"))
CHECKS = []


class Skip(Exception):
    pass


def check(function):
    CHECKS.append(function)
    return function


def call(*words, home=None, seconds=120, **environment):
    """Exit status, standard output and standard error of a command with an environment of its own."""
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    if home is not None:
        variables["HOME"] = str(home)
    variables.update(environment)
    done = subprocess.run([str(w) for w in words], env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds, errors="replace")
    return done.returncode, done.stdout, done.stderr


def home_of(folder):
    home = folder / "home"
    home.mkdir()
    return home


def programs(home):
    return home / ".cache/waggle/program"


def versions(place):
    return [p for p in place.iterdir() if len(p.name) == 32] if place.exists() else []


def damaged(single, folder, at):
    copy = folder / "damaged"
    shutil.copy(single, copy)
    with open(copy, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    return copy


@check
def it_starts_from_an_empty_home(single, folder):
    home = home_of(folder)
    code, out, err = call(single, "--version", home=home)
    assert code == 0 and "commit" in out and "libtorch" in out.splitlines()[-1], (code, out, err)
    assert "does not tell" not in out, out
    assert len(versions(programs(home))) == 1
    begin = time.monotonic()
    code, out, err = call(single, "status", home=home)
    assert code == 1 and "is one running" in err, (code, err)
    assert time.monotonic() - begin < 1, "a second start unpacks again"
    mode = programs(home).stat().st_mode & 0o777
    assert mode == 0o700, oct(mode)


@check
def the_window_is_there_and_says_when_it_cannot_open(single, folder):
    code, out, err = call(single, "window", home=home_of(folder))
    assert code == 1 and err.strip(), (code, out, err)


@check
def it_runs_on_its_own_libraries_too(single, folder):
    home = home_of(folder)
    code, out, err = call(single, "--version", home=home, WAGGLE_LIBRARIES="own")
    assert code == 0 and "libtorch" in out, (code, out, err)
    process = subprocess.Popen([str(single), "node", "--host", "127.0.0.1", "--json"], stdout=subprocess.PIPE, text=True,
                               env={"HOME": str(home), "PATH": "/bin", "WAGGLE_LIBRARIES": "own"})
    try:
        assert json.loads(process.stdout.readline()), "no first line"
        maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
        libraries = sorted({line.split()[-1] for line in maps.splitlines() if ".so" in line})
        assert any(p.endswith("/own/libc.so.6") for p in libraries), libraries
        assert not any(p.endswith("/x86_64-linux-gnu/libc.so.6") for p in libraries), libraries
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@check
def a_damaged_file_is_refused(single, folder):
    home = home_of(folder)
    for at in (os.path.getsize(single) // 2, -300):
        code, out, err = call(damaged(single, folder, at), "--version", home=home)
        assert code == 1 and "damaged" in err, (code, out, err)
    short = folder / "short"
    short.write_bytes(single.read_bytes()[:-1000])
    short.chmod(0o755)
    code, out, err = call(short, "--version", home=home)
    assert code == 1, (code, out, err)
    assert versions(programs(home)) == []


@check
def a_link_in_the_way_is_refused_and_another_place_found(single, folder):
    home = home_of(folder)
    victim = folder / "victim"
    victim.mkdir()
    (home / ".cache").mkdir()
    (home / ".cache/waggle").symlink_to(victim)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    code, out, err = call(single, "--version", home=home, XDG_RUNTIME_DIR=str(runtime))
    assert code == 0, (code, err)
    assert list(victim.iterdir()) == []
    shutil.rmtree(f"/var/tmp/waggle-{os.geteuid()}", ignore_errors=True)


@check
def a_home_where_nothing_may_run_sends_it_elsewhere(single, folder):
    home = home_of(folder)
    cache = folder / "cache"
    cache.mkdir()
    script = f'mount -t tmpfs -o noexec tmpfs "{home}" && exec env HOME="{home}" XDG_CACHE_HOME="{home}/c" "{single}" --version'
    if call("unshare", "-m", "true")[0] != 0:
        raise Skip("no mount namespace here")
    code, out, err = call("unshare", "-m", "sh", "-c", script)
    assert code == 0 and "libtorch" in out, (code, err)
    # And where no place is left it names each with its reason.
    script = (f'for d in "{home}" /var/tmp /dev/shm; do mount -t tmpfs -o noexec tmpfs "$d" || exit 9; done; '
              f'exec env HOME="{home}" "{single}" --version')
    code, out, err = call("unshare", "-m", "sh", "-c", script)
    assert code == 1, (code, out, err)
    assert f"{home}/.cache/waggle: programs may not run there (mounted noexec)" in err, err
    assert "/var/tmp/waggle-" in err and "/dev/shm/waggle-" in err and "XDG_CACHE_HOME" in err, err
    shutil.rmtree(f"/var/tmp/waggle-{os.geteuid()}", ignore_errors=True)


@check
def two_starts_at_once_unpack_once(single, folder):
    home = home_of(folder)
    both = [subprocess.Popen([str(single), "status"], env={"HOME": str(home)}, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in both:
        err = process.communicate(timeout=120)[1]
        assert process.returncode == 1 and "is one running" in err, err
    assert len(versions(programs(home))) == 1 and len(list(programs(home).iterdir())) == 2


@check
def login_and_removal_leave_nothing_behind(single, folder):
    home = home_of(folder)
    entry = home / ".config/autostart/waggle.desktop"
    assert call(single, "autostart", "on", home=home)[0] == 0
    assert f'Exec="{single}" window' in entry.read_text()
    assert call("desktop-file-validate", entry)[0] == 0
    code, out, err = call(single, "key", "show", home=home)
    code, out, err = call(single, "uninstall", home=home)
    assert code == 0 and str(single) in out, (code, out, err)
    assert not entry.exists() and not programs(home).exists(), list(home.rglob("*"))
    data = home / ".local/share/waggle"
    if data.exists():
        assert str(data) in out, out
        code, out, err = call(single, "uninstall", "--data", home=home)
        assert code == 3 and data.exists(), (code, out, err)
        code, out, err = call(single, "uninstall", "--data", "--yes", home=home)
        assert code == 0 and not data.exists(), (code, out, err)


@check
def what_it_holds_is_licensed_and_small(single, folder):
    home = home_of(folder)
    call(single, "--version", home=home)
    tree = versions(programs(home))[0]
    for name in ("waggle", "libc6", "libtorch1.13", "SOURCES"):
        assert (tree / "licences" / name).stat().st_size > 0, name
    total = sum(p.stat().st_size for p in tree.rglob("*") if p.is_file() and not p.is_symlink())
    assert total < 300e6, total


def deb_lists(deb):
    return subprocess.run(["dpkg-deb", "--contents", deb], capture_output=True, text=True, check=True).stdout


def deb_checks(deb, folder):
    """(name, function) of the package's checks."""
    tree = folder / "deb"
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)

    def it_holds_what_a_desktop_and_a_server_want():
        listed = deb_lists(deb)
        for path in ("usr/bin/waggle", "usr/lib/waggle/desktop/waggle", "usr/lib/waggle/trainer/waggle-trainer",
                     "usr/share/applications/waggle.desktop", "usr/share/icons/hicolor/scalable/apps/waggle.svg",
                     "usr/share/metainfo/waggle.metainfo.xml", "lib/systemd/system/waggle.service",
                     "usr/lib/sysusers.d/waggle.conf", "usr/share/man/man1/waggle.1.gz", "etc/default/waggle",
                     "usr/share/doc/waggle/copyright"):
            assert f" ./{path}\n" in listed, path
        odd = [line for line in listed.splitlines() if not line.split()[1] == "root/root"]
        assert not odd, odd
        assert all(line.split(" ./", 1)[1].startswith(("usr", "lib", "etc")) or line.endswith(" ./") for line in listed.splitlines())

    def its_desktop_files_are_valid():
        for words in (["desktop-file-validate", tree / "usr/share/applications/waggle.desktop"],
                      ["appstreamcli", "validate", "--no-net", tree / "usr/share/metainfo/waggle.metainfo.xml"]):
            code, out, err = call(*words)
            assert code == 0, (words, out, err)
        assert "x-scheme-handler/waggle" in (tree / "usr/share/applications/waggle.desktop").read_text()

    def its_man_page_knows_every_command():
        page = subprocess.run(["gzip", "-dc", tree / "usr/share/man/man1/waggle.1.gz"], capture_output=True, text=True).stdout
        said = call(tree / "usr/lib/waggle/desktop/waggle", "--help")[1]
        commands = [line.split()[0] for line in said.split("Subcommands:")[1].splitlines() if line.startswith("  ") and line[2] != " "]
        commands = [c for c in commands if c.isalpha() and c != "waggle"]
        assert len(commands) > 10, commands
        for command in commands:
            assert f".SS waggle {command}" in page, command

    def its_service_is_guarded():
        if not shutil.which("systemd-analyze"):
            raise Skip("no systemd-analyze")
        code, out, err = call("systemd-analyze", "security", "--offline=true", "--threshold=25",
                              tree / "lib/systemd/system/waggle.service")
        assert code == 0, out[-300:]

    def its_scripts_are_sound():
        for name in ("postinst", "prerm", "postrm"):
            assert call("sh", "-n", tree / "DEBIAN" / name)[0] == 0
        sums = subprocess.run(["md5sum", "--quiet", "-c", "DEBIAN/md5sums"], cwd=tree, capture_output=True, text=True)
        assert sums.returncode == 0, sums.stdout

    return [it_holds_what_a_desktop_and_a_server_want, its_desktop_files_are_valid, its_man_page_knows_every_command,
            its_service_is_guarded, its_scripts_are_sound]


def main():
    passed = failed = skipped = 0

    def run(name, function):
        nonlocal passed, failed, skipped
        try:
            function()
        except Skip as why:
            skipped += 1
            print(f"skipped {name}: {why}", flush=True)
        except (AssertionError, subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__} {error}", flush=True)
        else:
            passed += 1
            print(f"ok      {name}", flush=True)

    with tempfile.TemporaryDirectory(prefix="waggle-installer-", dir=BUILD.parent) as folder:
        folder = pathlib.Path(folder)
        single = folder / "Waggle-x86_64"
        made = subprocess.run([ROOT / "installer/make-single-file", "--no-build", "--build", BUILD, "--level", "1", "--output", single])
        if made.returncode != 0:
            print("FAILED  make-single-file")
            failed += 1
        else:
            for function in CHECKS:
                own = folder / function.__name__
                own.mkdir(mode=0o755)
                run(function.__name__, lambda: function(single, own))
                shutil.rmtree(own, ignore_errors=True)
        made = subprocess.run([ROOT / "installer/make-deb", "--no-build", "--build", BUILD, "--fast", "--output", folder])
        if made.returncode != 0:
            print("FAILED  make-deb")
            failed += 1
        else:
            for function in deb_checks(next(folder.glob("*.deb")), folder):
                run(function.__name__, function)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
