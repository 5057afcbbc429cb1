# Writes to the bot that sends links to the form, by a server that stands for Telegram, and opens the link.
import json
import os
import queue
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import urlopen

bot, base, key = sys.argv[1:]
sent = queue.Queue()
person = {"id": 4711, "first_name": "Ani", "language_code": "en-GB"}
updates = [
    {"update_id": 7, "message": {"chat": {"id": -1, "type": "group"}, "from": person, "text": "banjir"}},
    {"update_id": 8, "message": {"chat": {"id": 4711, "type": "private"}, "from": person, "text": "banjir"}},
    {"update_id": 9, "edited_message": {}},
]
asked, losses = [], [502]


class Telegram(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = self.path.rsplit("/", 1)[1]
        if method == "getUpdates":
            asked.append(body["offset"])
        answer = [update for update in updates if update["update_id"] >= body.get("offset", 0)]
        # The first message is lost on its way, and must be sent again.
        status = losses.pop() if method == "sendMessage" and losses else 200
        if method == "sendMessage":
            sent.put((status, body))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps({"ok": status == 200, "result": answer}).encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Telegram)
Thread(target=server.serve_forever, daemon=True).start()
settings = {"SIAGA": base, "KEY": key, "TOKEN": "secret", "TELEGRAM": f"http://127.0.0.1:{server.server_port}"}
process = subprocess.Popen([sys.executable, bot], env=os.environ | settings)
try:
    lost = sent.get(timeout=120)
    status, message = sent.get(timeout=120)
    assert (lost[0], status, message["chat_id"]) == (502, 200, 4711), (lost, message)
    text = message["text"]
    assert text.startswith("Report here"), text
    link = next(word for word in text.split() if word.startswith("http"))
    assert link.startswith(base.rsplit("/", 1)[0] + "/report/"), link
    with urlopen(link) as page:
        assert "Report what you see" in page.read().decode()
finally:
    process.kill()
    process.wait()
assert asked[0] == 0 and 7 not in asked, asked
