# Follows the bridge to Telegram with a service that changes and a server that stands for Telegram, which first refuses. News of
# many areas are several messages, and a message that Telegram never accepts holds back no other.
import json
import os
import queue
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen

bridge, base, key = sys.argv[1:]
received = queue.Queue()
refusals = [429]


class Telegram(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = refusals.pop() if refusals else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps({"parameters": {"retry_after": 1}}).encode())
        received.put((status, self.path, body))

    def log_message(self, *_):
        pass


def set_many(areas, state):
    body = json.dumps({"changes": [{"area_id": area, "state": state} for area in areas]}).encode()
    urlopen(Request(f"{base}/floods/changes", body, {"X-Api-Key": key}, method="POST")).close()


def put(area, state):
    request = Request(f"{base}/floods/{area}", json.dumps({"state": state}).encode(), {"X-Api-Key": key}, method="PUT")
    urlopen(request).close()


server = ThreadingHTTPServer(("127.0.0.1", 0), Telegram)
Thread(target=server.serve_forever, daemon=True).start()
put(5, 2)
settings = {"SIAGA": base, "TOKEN": "secret", "CHAT": "7", "TELEGRAM": f"http://127.0.0.1:{server.server_port}"}
process = subprocess.Popen([sys.executable, bridge], env=os.environ | settings)
try:
    # It may need a moment until it follows.
    state, refused = 2, None
    while refused is None:
        state = 1 + state % 4
        put(5, state)
        time.sleep(0.2)
        refused = None if received.empty() else received.get()
    again = received.get(timeout=20)
    assert (refused[0], again[0]) == (429, 200) and refused[2] == again[2], (refused, again)
    assert again[1] == "/botsecret/sendMessage" and again[2]["chat_id"] == "7", again
    # The first message has a name, and the state before and after.
    text = again[2]["text"]
    assert " → " in text and "RW" in text and len(text.splitlines()) == 1, text
    while not received.empty():
        received.get()
    refusals.append(400)
    put(5, 1 + state % 4)
    assert received.get(timeout=20)[0] == 400
    with urlopen(f"{base}/floods?geoformat=geojson") as response:
        floods = [feature["properties"] for feature in json.load(response)["result"]["features"]]
    dry = [int(flood["area_id"]) for flood in floods if flood["state"] is None][:400]
    set_many(dry, 2)
    lines = []
    while len(lines) < len(dry):
        status, _, message = received.get(timeout=20)
        assert status == 200 and len(message["text"]) <= 4096, message
        lines += message["text"].split("\n")
    assert len(lines) == len(dry) and all(line.endswith(": 0 → 2") for line in lines), lines
finally:
    process.kill()
    process.wait()
