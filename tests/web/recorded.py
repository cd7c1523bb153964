"""Serves assets/web with a recorded snapshot, so that the page can be looked at without a node."""
import http.server
import json
import math
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LINES = [("info", "node", "training a model of 78042 parameters from epoch 41"), ("info", "node", "epoch 42  loss 0.4127  1024 of 4096 samples, averaged with 3 peers  8.31 s"),
         ("warning", "net", "dialling /ip4/203.0.113.9/tcp/31337 took 9.7 s"), ("error", "averaging", "a part came back that cannot be: its peer is not used this round"),
         ("info", "node", "epoch 43  loss 0.4093  998 of 4096 samples, averaged with 3 peers  8.19 s")]


def events(snapshot):
    epoch = max([task["epoch"] for task in snapshot["tasks"]], default=0)
    for at in range(max(1, epoch - 120), epoch + 1):
        yield {"event": "epoch", "epoch": at, "loss": 0.3 + 2 * math.exp(-at / 30) + 0.03 * math.sin(at * 1.7)}
        if at % 5 == 0:
            yield {"event": "evaluation", "epoch": at, "accuracy": 0.92 - 0.8 * math.exp(-at / 25)}


class Recorded:
    def __init__(self, name):
        snapshot = json.loads((ROOT / "tests/ui/snapshots" / f"{name}.jsonl").read_text().splitlines()[-1])
        snapshot.setdefault("schema", 1)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                if path == "/v1/snapshot":
                    return self.answer(json.dumps(snapshot), "application/json")
                if path == "/v1/log":
                    lines = [{"number": i + 1, "time": snapshot["time"] - 60 + 7 * i, "level": l, "module": m, "text": t} for i, (l, m, t) in enumerate(LINES)]
                    return self.answer(json.dumps({"last": len(lines), "lines": [] if "after=0" not in self.path else lines}), "application/json")
                if path == "/v1/events":
                    return self.answer("".join(f"id: {i + 1}\ndata: {json.dumps(e)}\n\n" for i, e in enumerate(events(snapshot))) if "after=0" in self.path else "", "text/event-stream")
                file = ROOT / "assets/web" / (path.strip("/") or "index.html")
                if not file.is_file():
                    return self.send_error(404)
                self.answer(file.read_text(), TYPES[file.suffix])

            def answer(self, text, kind):
                body = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
