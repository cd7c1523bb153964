#!/usr/bin/env python3
"""The web page in headless Chromium on a real node: what it shows, that its buttons work, and that no other page can do a thing.

Skips itself, with the reason, where there is no Chromium (./bootstrap optional installs one).
"""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "integration"))
import chromium  # noqa: E402
import swarm  # noqa: E402

TASK = "document.querySelector('article.task')"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def training_node():
    """A node that trains, with a peer that trains beside it; (process, port, token)."""
    with tempfile.TemporaryDirectory(prefix="waggle-web-") as folder:
        folder = pathlib.Path(folder)
        port = free_port()
        node = swarm.Waggle("publish", swarm.lay_out_task(folder / "task"), "--run", "--api-port", port, data_dir=folder / "node")
        peer = None
        try:
            link = node.wait_for("published", 120)["link"]
            peer = swarm.Waggle("run", link, data_dir=folder / "peer")
            node.wait_for("epoch", 180, lambda e: e["averaged"])
            yield node, port, (folder / "node" / "api.token").read_text().strip()
        finally:
            for process in (node, peer):
                if process is not None:
                    process.kill()


@contextlib.contextmanager
def server_of(page):
    """Another program's page on this machine."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, dict(self.headers)))
            body = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, seen
    finally:
        server.shutdown()
        server.server_close()


def state(node):
    return (node.status()["tasks"] or [{}])[0].get("state")


def until(seconds, ask):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.25)
    return None


def shows_and_steers(node, port, token, pictures):
    """Every card has what the snapshot says; Pause and Start do it; the token is nowhere to be seen."""
    with chromium.Chromium(dark=True) as browser:
        browser.open(f"http://127.0.0.1:{port}/#{token}")
        browser.until(f"{TASK} && {TASK}.dataset.state === 'training'")
        assert browser.run("location.href") == f"http://127.0.0.1:{port}/", browser.run("location.href")
        assert browser.run("document.cookie") == ""
        assert token not in browser.run("document.documentElement.outerHTML")
        assert browser.run(f"{TASK}.querySelector('h2').textContent") == "Stripes"
        browser.until("document.querySelectorAll('#peers tbody tr').length === 1")
        browser.until("document.querySelector('#curve path.own')")
        browser.until("document.querySelector('#round .me')")
        browser.until("[...document.querySelectorAll('#log li .text')].some(e => e.textContent.includes('epoch'))")
        browser.until("document.querySelector('#hardware').textContent.includes('Memory')")
        browser.click("article.task .buttons button:first-child")
        assert until(30, lambda: state(node) == "paused"), f"Pause was pressed, but the task is {state(node)}"
        browser.until(f"{TASK}.dataset.state === 'paused' && {TASK}.querySelector('button').textContent === 'Start'")
        browser.picture(pictures / "page-paused-dark-en.png")
        browser.click("article.task .buttons button:first-child")
        assert until(30, lambda: state(node) == "training"), f"Start was pressed, but the task is {state(node)}"
        browser.until(f"{TASK}.dataset.state === 'training'")
        browser.picture(pictures / "page-training-dark-en.png")
        # The token stays with the tab over a reload, and with no other one.
        browser.open(f"http://127.0.0.1:{port}/")
        browser.until(f"{TASK} && {TASK}.dataset.state === 'training'")
        assert not browser.complaints(), browser.complaints()
    with chromium.Chromium(language="zh-CN", size=(480, 900)) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        browser.until("!document.getElementById('locked').hidden")
        assert browser.run("document.getElementById('open').hidden")
        assert "令牌" in browser.run("document.getElementById('locked').innerText")
        browser.picture(pictures / "page-locked-light-zh.png", whole=False)
        for given, wanted in ((token[:-1] + "x", "!!document.getElementById('login_trouble').textContent"), (f"http://127.0.0.1:{port}/#{token}", f"!!{TASK}")):
            browser.run("document.getElementById('token').focus()")
            browser.call("Input.insertText", {"text": given})
            browser.click("#login button")
            browser.until(wanted)
        browser.until(f"{TASK}.innerText.includes('训练中')")
        assert browser.run("document.documentElement.scrollWidth") <= 480, "it must fit a telephone's width"
        browser.picture(pictures / "page-training-light-zh.png")
        # A lost node is said, and found again by itself where it comes back.
        refused = [text for text in browser.complaints() if "401" not in text]
        assert not refused, refused


ATTACK = """<!doctype html><title>evil</title><script>
window.done = (async () => {
  const out = {};
  const attempt = async (name, work) => { try { out[name] = await work(); } catch (e) { out[name] = 'blocked'; } };
  const node = 'NODE', json = {method: 'POST', body: '{"command":"pause"}'};
  await attempt('read page', async () => (await fetch(node + '/')).status);
  await attempt('read health', async () => (await fetch(node + '/healthz')).status);
  await attempt('read snapshot', async () => (await fetch(node + '/v1/snapshot', {credentials: 'include'})).status);
  await attempt('read with token', async () => (await fetch(node + '/v1/snapshot', {headers: {Authorization: 'Bearer TOKEN'}})).status);
  await attempt('post json', async () => (await fetch(node + '/v1/commands', {...json, headers: {'Content-Type': 'application/json', Authorization: 'Bearer TOKEN'}})).status);
  await attempt('post simple', async () => (await fetch(node + '/v1/commands', {...json, mode: 'no-cors', credentials: 'include'})).type);
  await attempt('listen', () => new Promise((ok, bad) => { const s = new EventSource(node + '/v1/events'); s.onopen = () => ok('open'); s.onerror = bad; }));
  await attempt('script', () => new Promise((ok, bad) => { const s = document.createElement('script'); s.src = node + '/words.js'; s.onload = () => ok('ran'); s.onerror = bad; document.head.append(s); }));
  await attempt('image', () => new Promise((ok, bad) => { const s = new Image(); s.src = node + '/icon.svg'; s.onload = () => ok('shown'); s.onerror = bad; }));
  await attempt('frame', async () => { const f = document.createElement('iframe'); f.src = node + '/#TOKEN'; document.body.append(f);
    await new Promise((ok) => { f.onload = ok; setTimeout(ok, 3000); });
    await new Promise((ok) => setTimeout(ok, 1500)); return f.contentDocument ? 'reachable' : 'opaque'; });
  await attempt('window', async () => { const w = window.open(node + '/#TOKEN'); await new Promise((ok) => setTimeout(ok, 2500)); try { return w && w.document ? w.document.title : 'no handle'; } catch { return 'opaque'; } });
  return out;
})();
</script><body><form id=f method=post enctype="text/plain" target=t action="NODE/v1/commands"><input name='{"command":"pause","prefix":"' value='"}'></form><iframe name=t></iframe>"""


def other_pages_can_do_nothing(node, port, token, _):
    """A page of another program on this machine, which even knows the token, neither reads nor changes anything."""
    page = ATTACK.replace("NODE", f"http://127.0.0.1:{port}").replace("TOKEN", token)
    with server_of(page) as (evil, seen), chromium.Chromium() as browser:
        # The person has the real page open in this browser.
        browser.open(f"http://127.0.0.1:{port}/#{token}")
        browser.until(f"!!{TASK}")
        for host in ("127.0.0.1", "localhost"):
            browser.open(f"http://{host}:{evil}/")
            browser.until("document.title === 'evil'")
            got = browser.run("window.done", seconds=90)
            for name in ("read page", "read health", "read snapshot", "read with token", "post json", "listen", "script", "image"):
                assert got[name] == "blocked", (host, name, got)
            assert got["post simple"] in ("blocked", "opaque"), got
            assert got["frame"] == "opaque" and got["window"] in ("opaque", "no handle"), got
            browser.run("document.getElementById('f').submit()")
            time.sleep(2)
            assert state(node) == "training", (host, state(node))
        assert all(token not in json.dumps(headers) for _, headers in seen), "another program was sent the token"


def a_rebound_name_can_do_nothing(node, port, token, _):
    """A name of somebody else that points here is refused, although the browser takes its page for the same origin."""
    with chromium.Chromium(hosts=["evil.test 127.0.0.1"]) as browser:
        browser.open(f"http://evil.test:{port}/")
        browser.until("document.body && document.body.innerText.includes('not ours')")
        for path in ("/", "/waggle.js", "/healthz", "/v1/snapshot"):
            got = browser.run(f"fetch('{path}', {{headers: {{Authorization: 'Bearer {token}'}}}}).then(r => r.status)")
            assert got == 403, (path, got)
        got = browser.run(f"fetch('/v1/commands', {{method: 'POST', body: '{{\"command\":\"pause\"}}', headers: {{'Content-Type': 'application/json', Authorization: 'Bearer {token}'}}}}).then(r => r.status)")
        assert got == 403, got
        time.sleep(1)
        assert state(node) == "training", state(node)


def a_lost_node_is_said(node, port, token, _):
    """The page says that nobody answers, and shows no old figures as new."""
    with chromium.Chromium() as browser:
        browser.open(f"http://127.0.0.1:{port}/#{token}")
        browser.until("document.getElementById('link').classList.contains('good')")
        node.end(signal.SIGTERM)
        browser.until("document.getElementById('link').classList.contains('bad')")


def main():
    if chromium.find() is None:
        print("SKIP  no Chromium is installed; ./bootstrap optional installs one")
        print("0 passed, 0 failed, 4 skipped")
        return 0
    counts = {"passed": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="waggle-web-") as out:
        pictures = pathlib.Path(os.environ.get("WAGGLE_PICTURES", out))
        pictures.mkdir(parents=True, exist_ok=True)
        with training_node() as (node, port, token):
            for test in (shows_and_steers, other_pages_can_do_nothing, a_rebound_name_can_do_nothing, a_lost_node_is_said):
                begin = time.monotonic()
                try:
                    test(node, port, token, pictures)
                    counts["passed"] += 1
                    print(f"ok    {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
                except Exception:  # noqa: BLE001
                    counts["failed"] += 1
                    print(f"FAIL  {test.__name__}", flush=True)
                    traceback.print_exc(file=sys.stdout)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
