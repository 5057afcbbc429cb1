# Writes to the bot that sends links to the form, by a server that stands for Telegram. Opens the link, and sends photos after
# the report, which accepts one. An unreachable person blocks nobody, and no token is printed.
import os
import queue
import subprocess
import sys
import time
from urllib.request import urlopen

from stand_in import StandIn, request, serve

bot, base, key, photo = sys.argv[1:]
sent = queue.Queue()
person = {"id": 4711, "first_name": "Ani", "language_code": "en-GB"}
gone = {"id": 13, "first_name": "Budi", "language_code": "in_ID"}
updates = [
    {"update_id": 6, "message": {"chat": {"id": 13, "type": "private"}, "from": gone, "text": "banjir"}},
    {"update_id": 7, "message": {"chat": {"id": -1, "type": "group"}, "from": person, "text": "banjir"}},
    {"update_id": 8, "message": {"chat": {"id": 4711, "type": "private"}, "from": person, "text": "banjir"}},
    {"update_id": 9, "edited_message": {}},
]
asked, losses = [], [502]


class Telegram(StandIn):
    def do_GET(self):
        assert self.path == "/file/botsecret/photos/large.jpg", self.path
        with open(photo, "rb") as file:
            self.respond(200, file.read())

    def do_POST(self):
        body = self.body()
        method = self.path.rsplit("/", 1)[1]
        if method == "getUpdates":
            asked.append(body["offset"])
        answer = [update for update in updates if update["update_id"] >= body.get("offset", 0)]
        if method == "getUpdates" and not answer:
            time.sleep(0.1)
        if method == "getFile":
            assert body["file_id"] == "large", body
            answer = {"file_path": "photos/large.jpg"}
        status = 200
        if method == "sendMessage":
            # One person has blocked the bot. The first message to another one is lost on its way, and must be sent again.
            status = 400 if body["chat_id"] == 13 else losses.pop() if losses else 200
            sent.put((status, body))
        self.respond(status, {"ok": status == 200, "result": answer, "description": f"chat not found at {self.path}"})


def write(**message):
    updates.append({"update_id": updates[-1]["update_id"] + 1,
                    "message": {"chat": {"id": 4711, "type": "private"}, "from": person, **message}})


settings = {"SIAGA": base, "KEY": key, "TOKEN": "secret", "TELEGRAM": serve(Telegram)}
process = subprocess.Popen([sys.executable, bot], env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
try:
    status, message = sent.get(timeout=120)
    assert (status, message["chat_id"]) == (400, 13) and message["text"].startswith("Laporkan"), message
    lost = sent.get(timeout=120)
    status, message = sent.get(timeout=120)
    assert (lost[0], status, message["chat_id"]) == (502, 200, 4711), (lost, message)
    text = message["text"]
    assert text.startswith("Report here"), text
    link = next(word for word in text.split() if word.startswith("http"))
    assert link.startswith(base.rsplit("/", 1)[0] + "/report/"), link
    with urlopen(link) as page:
        assert "Report what you see" in page.read().decode()
    sizes = [{"file_id": "small"}, {"file_id": "large"}]
    card = link.rsplit("/", 1)[1]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    report = {"disaster_type": "flood", "card_data": {"report_type": "flood", "flood_depth": 50}, "created_at": now,
              "location": {"lat": -6.2, "lng": 106.83}, "text": "knee deep"}
    request("PUT", f"{base}/cards/{card}", report, **{"X-Api-Key": key})
    write(photo=sizes)
    status, message = sent.get(timeout=120)
    assert message["text"].startswith("Thank you"), message
    for _ in range(600):
        features = request("GET", f"{base}/reports?geoformat=geojson", None)["result"]["features"]
        shown = [of["properties"]["image_url"] for of in features if of["properties"]["url"] == card]
        if shown and shown[0]:
            break
        time.sleep(0.1)
    assert shown and shown[0], shown
    write(photo=sizes)
    status, message = sent.get(timeout=120)
    assert message["text"].startswith("This photo cannot be used"), message
finally:
    process.kill()
    printed = process.communicate()[0].decode()
assert asked[0] == 0 and 7 not in asked, asked
assert "sendMessage: 400 chat not found" in printed and "secret" not in printed, printed
