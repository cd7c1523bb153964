"""A headless Chromium driven over its DevTools pipe: no driver, no websocket, standard library only."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path; None where there is none."""
    return os.environ.get("WAGGLE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


class Failure(Exception):
    pass


class Chromium:
    """One browser with one page. `dark`, `language`: what the page is told; `hosts`: "NAME IP" for the browser's resolver alone."""

    def __init__(self, *, dark=False, language="en-GB", size=(1180, 1500), hosts=()):
        self.folder = tempfile.mkdtemp(prefix="waggle-web-")
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        command = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--lang={language}", f"--accept-lang={language}",
                   f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"]
        if hosts:
            command.insert(1, "--host-resolver-rules=" + ",".join(f"MAP {pair}" for pair in hosts))
        log = open(pathlib.Path(self.folder) / "chromium.log", "wb")

        def pipes():  # Chromium reads commands on 3 and answers on 4
            os.dup2(read, 63), os.dup2(write, 64)
            os.dup2(63, 3), os.dup2(64, 4)

        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False, preexec_fn=pipes,
                                        env={**os.environ, "LANGUAGE": language, "HOME": self.folder})
        os.close(read), os.close(write), log.close()
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.call("Emulation.setLocaleOverride", {"locale": language.replace("-", "_")})
        self.call("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": language})
        self.resize(*size)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise Failure("the browser does not answer")
            piece = os.read(self.read, 1 << 16)
            if not piece:
                raise Failure("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, seconds=60):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Goes there; what the page does then is not waited for. A refusal by the network is no failure."""
        return self.call("Page.navigate", {"url": url})

    def run(self, script, seconds=60):
        """The value of a JavaScript expression, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True}, seconds)
        if "exceptionDetails" in answer:
            raise Failure(f"{script}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, script, seconds=60):
        """Waits until an expression is true (an element is: the value itself would come back empty)."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if self.run(f"!!({script})"):
                    return
            except Failure:
                pass  # between two pages
            if time.monotonic() > deadline:
                raise Failure(f"never true: {script}; the page says: {self.run('document.body.innerText')[:2000]}")
            time.sleep(0.2)

    def click(self, selector):
        """Presses the mouse on the middle of an element, as a person would."""
        place = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                         "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1})

    def complaints(self):
        """What the browser's console holds of errors and violations so far."""
        out = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                out.append(event["params"]["entry"]["text"] + " " + event["params"]["entry"].get("url", ""))
            if event.get("method") == "Runtime.exceptionThrown":
                out.append(json.dumps(event["params"]["exceptionDetails"])[:500])
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning"):
                out.append(json.dumps(event["params"]["args"])[:500])
        return out

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        for descriptor in (self.write, self.read):
            os.close(descriptor)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
