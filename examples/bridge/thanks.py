"""Thanks each person whose report has arrived: receives the webhook of Siaga that is configured below, and writes to the person at Telegram.

SECRET=<of the webhook> TOKEN=<of the bot> python3 thanks.py 8026

[default.siaga.webhooks.thanks]
url = "http://127.0.0.1:8026/"
private = true
event = "report"
filter = { source = ["grasp"] }
personal = true
secret = "whsec_…"
"""

import hmac
import json
import os
import sys
import time
from base64 import b64decode, b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bot import Away, Refused, ask, language, send

secret = b64decode(os.environ["SECRET"].strip().removeprefix("whsec_"))
WORDS = {"id": "Terima kasih, laporan Anda sudah ada di peta.", "en": "Thank you, your report is on the map."}
thanked = {}


def is_genuine(headers, body):
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + b64encode(hmac.digest(secret, signed, "sha256")).decode()
    signatures = headers.get("webhook-signature", "").split()
    is_recent = abs(time.time() - int(headers.get("webhook-timestamp", 0))) < 300
    return is_recent and any(hmac.compare_digest(expected, signature) for signature in signatures)


class Thanks(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"]), 20_000))
        self.send_response(self.answer(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, body):
        if not is_genuine(self.headers, body):
            return 401
        report, event = json.loads(body)["data"], self.headers["webhook-id"]
        # Siaga sends an event again if it does not learn that it has arrived.
        if event not in thanked and report.get("network") == "telegram":
            try:
                send(report["username"], WORDS[language(report["language"], WORDS)], ask, timeout=10)
            except Refused:
                # Telegram never accepts the message, as of a person who has blocked the bot. For Siaga it is done.
                pass
            except Away:
                return 503
        thanked[event] = None
        while len(thanked) > 10_000:
            del thanked[next(iter(thanked))]
        return 204

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Thanks).serve_forever()
