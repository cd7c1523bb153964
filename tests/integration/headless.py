"""Scenarios of a Waggle without a display: its API by file and by TCP, the log, reports, settings."""
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess
import tarfile
import time

import prometheus
from harness import publisher, scenario, start
from swarm import WAGGLE, run


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def by_tcp(port, method, path, headers=None, body=None):
    """(status, headers, body) of one request, which says of itself just what `headers` say."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    headers = {"Host": f"127.0.0.1:{port}", **(headers or {})}
    for name, value in headers.items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def by_file(process, path):
    with socket.socket(socket.AF_UNIX) as api:
        api.settimeout(10)
        api.connect(str(process.data_dir / "api.sock"))
        api.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head, _, body = b"".join(iter(lambda: api.recv(65536), b"")).decode().partition("\r\n\r\n")
        return int(head.split()[1]), body


def until(seconds, ask):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.2)
    return None


@scenario(kind="light")
def the_api_by_tcp_opens_to_its_token_alone(folder):
    port = free_port()
    node = start("node", "--api-port", str(port), data_dir=folder / "a")
    assert node.wait_for("page", 20)["url"] == f"http://127.0.0.1:{port}/"
    file = node.data_dir / "api.token"
    token = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and re.fullmatch("[0-9a-f]{64}", token)
    assert until(20, lambda: by_tcp(port, "GET", "/healthz")[0] == 200)
    bearer = {"Authorization": f"Bearer {token}"}
    for path in ("/v1/snapshot", "/v1/log", "/metrics"):
        assert by_tcp(port, "GET", path)[0] == 401, path
        assert by_tcp(port, "GET", path, bearer)[0] == 200, path
        assert by_tcp(port, "GET", path, {**bearer, "Host": f"evil.example:{port}"})[0] == 403, path
        assert by_tcp(port, "GET", path, {**bearer, "Origin": "http://evil.example"})[0] == 403, path
    browse = '{"command": "browse"}'
    typed = {"Content-Type": "application/json"}
    assert by_tcp(port, "POST", "/v1/commands", typed, browse)[0] == 401
    assert by_tcp(port, "POST", "/v1/commands", bearer, browse)[0] == 415
    assert by_tcp(port, "POST", "/v1/commands", {**bearer, **typed}, browse)[0] == 200
    status, headers, page = by_tcp(port, "GET", "/")
    assert status == 200 and page.startswith("<!doctype html>") and "default-src 'none'" in headers["Content-Security-Policy"]
    assert not [name for name in headers if name.lower().startswith("access-control")]
    code, out, err = run("web", "--data-dir", node.data_dir)
    assert code == 0 and out.strip() == f"http://127.0.0.1:{port}/#{token}", (out, err)
    # Only this machine can come at all.
    listening = subprocess.run(["ss", "-Htln", f"sport = :{port}"], capture_output=True, text=True).stdout
    assert not listening or f"127.0.0.1:{port}" in listening, listening
    # The token is in no log, and no event.
    assert node.end(signal.SIGTERM) == 0
    written = node.text() + json.dumps(node.events) + "".join(f.read_text(errors="replace") for f in (node.data_dir / "logs").iterdir())
    assert token not in written
    again = start("node", "--api-port", str(port), data_dir=folder / "a")
    again.wait_for("page", 20)
    assert by_tcp(port, "GET", "/v1/log", bearer)[0] == 200, "the token must outlive a restart"


@scenario(kind="light")
def without_being_asked_nothing_listens_by_tcp(folder):
    node = start("node", data_dir=folder / "a")
    node.wait_for("started", 20)
    code, out, err = run("web", "--data-dir", node.data_dir)
    assert code == 1 and "--api-port" in err, (code, err)
    assert not (node.data_dir / "api.token").exists()
    assert not [e for e in node.events if e["event"] == "page"]


@scenario(kind="light")
def a_busy_page_port_keeps_nobody_from_running(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        node = start("node", "--api-port", str(port), data_dir=folder / "a")
        said = node.wait_for("notice", 20, lambda e: "web page" in e["text"])["text"]
        assert str(port) in said and "in use" in said, said
        assert until(20, lambda: by_file(node, "/healthz")[0] == 200)


@scenario(kind="light")
def who_comes_when_there_is_no_room_for_a_thread_is_hung_up_on(folder):
    node = start("node", data_dir=folder / "a")
    node.wait_for("started", 20)
    assert until(20, lambda: by_file(node, "/healthz")[0] == 200)
    time.sleep(2)
    pid = node.process.pid
    used = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.prlimit(pid, resource.RLIMIT_AS, (used + (6 << 20), resource.RLIM_INFINITY))
    callers = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    try:
        for caller in callers:
            caller.settimeout(3)
            caller.connect(str(node.data_dir / "api.sock"))
        hung_up = 0
        for caller in callers:
            try:
                hung_up += caller.recv(1) == b""
            except TimeoutError:
                pass  # served, and waited for
        assert hung_up > 0, "there was room"
        assert node.process.poll() is None, node.text()
    finally:
        for caller in callers:
            caller.close()
        if node.process.poll() is None:
            resource.prlimit(pid, resource.RLIMIT_AS, before)
    assert until(20, lambda: by_file(node, "/healthz")[0] == 200)
    assert node.end() == 0


@scenario(kind="light")
def settings_come_from_waggle_toml_and_a_bad_one_is_named_and_kept(folder):
    port = free_port()
    data = folder / "a"
    data.mkdir()
    toml = data / "waggle.toml"
    toml.write_text(f'api_port = {port}\napi_names = ["box.lan"]\n')
    node = start("node", data_dir=data)
    node.wait_for("page", 20)
    token = (data / "api.token").read_text().strip()
    bearer = {"Authorization": f"Bearer {token}"}
    assert until(20, lambda: by_tcp(port, "GET", "/healthz", {"Host": "box.lan"})[0] == 200)
    assert by_tcp(port, "GET", "/v1/log", {**bearer, "Host": f"box.lan:{port}", "Origin": f"http://box.lan:{port}"})[0] == 200
    assert by_tcp(port, "GET", "/v1/log", {**bearer, "Host": "other.lan"})[0] == 403
    assert node.end(signal.SIGTERM) == 0
    bad = f'api_port = {port}\nthreads = "four"  # mine\n'
    toml.write_text(bad)
    node = start("node", data_dir=data)
    said = node.wait_for("notice", 20, lambda e: "waggle.toml" in e["text"])["text"]
    assert f"{toml}:2:11:" in said and "threads" in said, said
    assert until(20, lambda: by_file(node, "/healthz")[0] == 200)
    assert not [e for e in node.events if e["event"] == "page"], "one wrong line means that none counts"
    assert toml.read_text() == bad
    assert any("waggle.toml:2:11" in notice for notice in node.status()["notices"])
    code, out, _ = run("doctor", "--data-dir", data, "--json")
    assert any(f["what"] == "waggle.toml" and ":2:11:" in f["detail"] for f in map(json.loads, out.splitlines())), out
    # While it stands a flag still works.
    assert node.end(signal.SIGTERM) == 0
    node = start("node", "--api-port", str(port), data_dir=data)
    node.wait_for("page", 20)


@scenario(kind="light")
def the_log_is_kept_shown_and_followed(folder):
    node = start("node", data_dir=folder / "a")
    node.wait_for("started", 20)
    assert until(10, lambda: "reachable at" in run("logs", "--data-dir", node.data_dir)[1])
    code, out, err = run("logs", "--data-dir", node.data_dir, "--json", "--since", "1h", "--last", "1")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and len(lines) == 1 and set(lines[0]) == {"time", "level", "module", "text"}, (out, err)
    assert abs(lines[0]["time"] - time.time()) < 60
    assert run("logs", "--data-dir", node.data_dir, "--level", "error")[1] == ""
    assert run("logs", "--data-dir", node.data_dir, "--since", "yesterday")[0] == 2
    code, _, err = run("logs", "--data-dir", folder / "nothing")
    assert code == 1 and "waggle.log" in err, err
    follower = subprocess.Popen([WAGGLE, "logs", "--data-dir", node.data_dir, "--follow", "--last", "1"], stdout=subprocess.PIPE, text=True)
    try:
        first = follower.stdout.readline()
        assert node.end(signal.SIGTERM) == 0
        # It goes on with the next process of this data directory.
        again = start("node", data_dir=folder / "a")
        again.wait_for("started", 20)
        second = follower.stdout.readline()
        assert "node" in first and second and first != second, (first, second)
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(timeout=10) == 0
    finally:
        follower.kill()
        follower.wait()
        follower.stdout.close()
    status, body = by_file(again, "/v1/log?most=3")
    answer = json.loads(body)
    assert status == 200 and answer["last"] >= len(answer["lines"]) > 0 and answer["lines"][0]["module"], answer
    assert json.loads(by_file(again, f"/v1/log?after={answer['last']}")[1])["lines"] == []


@scenario(kind="light")
def a_report_holds_none_of_what_was_planted(folder):
    home = folder / "zaphod"
    home.mkdir()
    port = free_port()
    other = start("node", data_dir=folder / "other")
    seed = other.wait_for("started", 20)
    who = {"HOME": str(home), "USER": "zaphod", "LOGNAME": "zaphod"}
    node = start("node", "--api-port", str(port), "--peer", seed["addresses"][0], data_dir=home / "waggle", env=who)
    node.wait_for("page", 20)
    assert until(30, lambda: json.loads(by_file(node, "/v1/snapshot")[1]).get("peers"))
    mine = node.wait_for("started", 1)["peer_id"]
    toml = 'peer = ["/ip4/203.0.113.77/tcp/1/p2p/' + seed["peer_id"] + '"]\n'
    (node.data_dir / "waggle.toml").write_text(toml)
    token = (node.data_dir / "api.token").read_text().strip()
    with open(node.data_dir / "logs" / "waggle.log", "a") as log:
        log.write(f"2099-01-31T12:00:00.500Z warning net       planted {token} 198.51.100.23 [2001:db8::77] zaphod@example.org {home}/x {mine}\n")
    to = folder / "r.tar.gz"
    environment = {**os.environ, **who}
    command = [WAGGLE, "report", "--data-dir", node.data_dir, "--to", to]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Look inside" in done.stdout and "waggle.log" in done.stdout, done.stdout
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    with tarfile.open(to) as bundle:
        files = {member.name: bundle.extractfile(member).read() for member in bundle.getmembers()}
    assert {pathlib.Path(name).name for name in files} == {"README.txt", "versions.txt", "doctor.txt", "waggle.toml", "snapshot.json", "metrics.txt", "waggle.log"}
    everything = b"\n".join(files.values())
    keys = [f.read_bytes() for f in node.data_dir.glob("*.key")]
    assert keys
    for secret in [token, mine, seed["peer_id"], "203.0.113.77", "198.51.100.23", "2001:db8::77", "zaphod", str(home), socket.gethostname() if len(socket.gethostname()) > 3 else token, *keys]:
        assert (secret if isinstance(secret, bytes) else secret.encode()) not in everything, secret
    text = files["waggle-report/waggle.log"].decode()
    assert "planted <token> <ip" in text and "<own peer>" in text, text[-2000:]
    assert json.loads(files["waggle-report/snapshot.json"])["schema"] == 1
    assert subprocess.run(command, env=environment, capture_output=True, timeout=60).returncode == 1, "it must not replace a file"


@scenario(kind="light")
def bash_completes_what_the_command_line_has(folder):
    script = folder / "waggle.bash"
    script.write_text(run("completions", "bash")[1])
    def complete(*words):
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["bash", "-c", f"source {script}; COMP_WORDS=(waggle {line}); COMP_CWORD={len(words)}; _waggle; echo \"${{COMPREPLY[@]}}\""],
                              capture_output=True, text=True, timeout=20)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout.split()
    assert complete("sta") == ["status"]
    assert {"run", "publish", "logs", "report"} <= set(complete(""))
    assert complete("run", "--pow") == ["--power"]
    assert complete("run", "--power", "") == ["light", "medium", "full"]
    assert complete("key", "ex") == ["export"]
    assert complete("completions", "z")[0] == "zsh"
    for shell in ("zsh", "fish"):
        assert run("completions", shell)[1].count("until-accuracy") >= 1
    assert run("completions", "tcsh")[0] == 2


@scenario
def metrics_of_a_node_that_trains_are_strictly_prometheus(folder):
    node, _ = publisher(folder)
    node.wait_for("epoch", 120)
    assert until(20, lambda: json.loads(by_file(node, "/v1/snapshot")[1])["tasks"][0]["epoch"] > 0)
    samples, by_promtool = prometheus.check(by_file(node, "/metrics")[1])
    task = (("operator", node.status()["tasks"][0]["operator"]), ("prefix", "stripes"))
    assert samples["waggle_task_epoch"][task] >= 1
    assert sum(samples["waggle_task_state"].values()) == 1
    assert samples["waggle_socket_received_bytes_total"][()] >= 0 and samples["waggle_start_time_seconds"][()] > 1.6e9
    before = samples["waggle_task_samples_total"][task]
    at = node.epoch()
    node.wait_for("epoch", 60, lambda e: e["epoch"] >= at + 2)
    assert until(20, lambda: prometheus.parse(by_file(node, "/metrics")[1])["waggle_task_samples_total"][task] > before)
    print("promtool agrees" if by_promtool else "promtool is not installed: only our own strict reader looked")


@scenario
def example_predictions_come_with_one_request_though_nobody_watches(folder):
    node, _ = publisher(folder)
    node.wait_for("epoch", 120)
    assert json.loads(by_file(node, "/v1/examples")[1]) == {}, "made although nobody had asked"
    for _ in range(2):
        mark = node.mark()
        at = node.wait_for("epoch", 60, since=mark)["epoch"]
    examples = json.loads(by_file(node, "/v1/examples")[1])
    assert examples["prefix"] == "stripes" and len(examples["items"]) == 12 and 0 < examples["epoch"] <= at + 1, examples


@scenario
def events_are_numbered_and_kept_for_who_comes_late(folder):
    node, _ = publisher(folder)
    node.wait_for("epoch", 120)
    with socket.socket(socket.AF_UNIX) as api:
        api.settimeout(60)
        api.connect(str(node.data_dir / "api.sock"))
        api.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        text = ""
        while '"event":"epoch"' not in text or not text.endswith("\n\n"):
            text += api.recv(65536).decode()
    head, _, body = text.partition("\r\n\r\n")
    assert "Content-Type: text/event-stream" in head
    blocks = [block for block in body.split("\n\n") if block.startswith("id: ")]
    assert [int(block.split("\n")[0][4:]) for block in blocks] == list(range(1, len(blocks) + 1))
    assert json.loads(blocks[0].split("\n")[1].removeprefix("data: "))["event"] == "started"
