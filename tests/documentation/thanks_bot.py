# Reports as a bot does, by a server that stands for Telegram, and waits for the thanks. A person who cannot be reached is asked
# once, and keeps nobody waiting.
import os
import queue
import subprocess
import sys
import time
from urllib.error import HTTPError

from stand_in import StandIn, request, serve

program, port, secret, base, key = sys.argv[1:]
sent = queue.Queue()
losses = [500]


class Telegram(StandIn):
    def do_POST(self):
        body = self.body()
        # The first message is lost on its way, and must be sent again. One person has blocked the bot.
        status = losses.pop() if losses else 400 if body["chat_id"] == "13" else 200
        sent.put((status, self.path, body))
        self.respond(status)


settings = {"SECRET": secret, "TOKEN": "token", "TELEGRAM": serve(Telegram)}
process = subprocess.Popen([sys.executable, program, port], env=os.environ | settings)
try:
    def send(username, language):
        holder = {"username": username, "network": "telegram", "language": language}
        card = request("POST", f"{base}/cards", holder, **{"X-Api-Key": key})["cardId"]
        request("PUT", f"{base}/cards/{card}", report, **{"X-Api-Key": key})

    report = {
        "disaster_type": "flood", "card_data": {"report_type": "flood", "flood_depth": 40}, "text": "water",
        "image_url": "", "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "location": {"lat": -6.2, "lng": 106.8},
    }
    send("4711", "en-GB")
    lost, again = sent.get(timeout=120), sent.get(timeout=120)
    assert (lost[0], again[0]) == (500, 200), (lost, again)
    expected = {"chat_id": "4711", "text": "Thank you, your report is on the map."}
    assert again[1:] == ("/bottoken/sendMessage", expected), again
    send("13", "id")
    refused = sent.get(timeout=120)
    assert (refused[0], refused[2]["chat_id"]) == (400, "13"), refused
    send("4712", "in_ID")
    next_one = sent.get(timeout=120)
    expected = {"chat_id": "4712", "text": "Terima kasih, laporan Anda sudah ada di peta."}
    assert (next_one[0], next_one[2]) == (200, expected), next_one
    forged = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    try:
        request("POST", f"http://127.0.0.1:{port}/", {"data": {"network": "telegram", "username": "1"}}, **forged)
        raise AssertionError("a forged request was accepted")
    except HTTPError as error:
        assert error.code == 401, error
    assert sent.empty(), sent.get()
finally:
    process.kill()
    process.wait()
