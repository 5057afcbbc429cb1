"""A Telegram bot that sends each person who writes to it a link to the form for reports. A photo that the person sends to the bot
after the report is added to it.

SIAGA=https://flood.example/v1 KEY=<with the scope cards:write> TOKEN=<of the bot> python3 reports.py
"""

import json
import os
import time
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

base, key, token = (os.environ[name] for name in ("SIAGA", "KEY", "TOKEN"))
api = os.environ.get("TELEGRAM", "https://api.telegram.org")
site = "{0.scheme}://{0.netloc}".format(urlsplit(base))
WORDS = {
    "id": {
        "link": "Laporkan di sini, satu tautan untuk satu laporan: {link}\nDalam keadaan darurat, hubungi 112.",
        "photo": "Terima kasih. Foto Anda segera tampil pada laporan.",
        "no photo": "Foto ini tidak dapat dipakai: kirim dulu laporannya, satu foto untuk satu laporan.",
    },
    "en": {
        "link": "Report here, one link for one report: {link}\nIn an emergency, call 112.",
        "photo": "Thank you. The report shows your photo in a moment.",
        "no photo": "This photo cannot be used: send the report first, and one photo for each report.",
    },
}
# The newest card of each person. After a restart of the bot, a photo needs a new link.
cards = {}


def call(address, body, **headers):
    request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request, timeout=90) as response:
        return json.load(response)


def words(user):
    return WORDS.get(user.get("language_code", "id")[:2], WORDS["id"])


def link(user):
    """Makes a card. Siaga does not need to know who the person is: the number of the user is enough for the bot."""
    language = user.get("language_code", "id")[:2]
    holder = {"username": str(user["id"]), "network": "telegram", "language": language if language in WORDS else "id"}
    cards[user["id"]] = call(f"{base}/cards", holder, **{"X-Api-Key": key})["cardId"]
    while len(cards) > 10_000:
        del cards[next(iter(cards))]
    return words(user)["link"].format(link=f"{site}/report/{cards[user['id']]}")


def add_photo(user, sizes):
    """Adds a photo to the person's report. Telegram makes a JPEG of each photo, in several sizes of which the last is the largest."""
    if user["id"] not in cards:
        return link(user)
    path = call(f"{api}/bot{token}/getFile", {"file_id": sizes[-1]["file_id"]})["result"]["file_path"]
    with urlopen(f"{api}/file/bot{token}/{path}", timeout=90) as response:
        photo = response.read(20_000_000)
    images = f"{base}/cards/{cards[user['id']]}/images?file_type=image/jpeg"
    try:
        with urlopen(Request(images, headers={"X-Api-Key": key}), timeout=90) as response:
            address = json.load(response)["signedRequest"]
        urlopen(Request(address, photo, {"Content-Type": "image/jpeg"}, method="PUT"), timeout=90).close()
    except HTTPError as error:
        # The card has no report yet or a photo already, or the file is none.
        if error.code not in (409, 413, 415):
            raise
        return words(user)["no photo"]
    return words(user)["photo"]


def answer(message):
    user = message["from"]
    return add_photo(user, message["photo"]) if message.get("photo") else link(user)


offset = 0
while True:
    try:
        # Telegram holds the request until somebody writes, for at most 50 seconds.
        updates = call(f"{api}/bot{token}/getUpdates", {"offset": offset, "timeout": 50, "allowed_updates": ["message"]})
        for update in updates["result"]:
            message = update.get("message", {})
            # In groups, people would take each other's links.
            if message.get("chat", {}).get("type") == "private" and "from" in message:
                body = {"chat_id": message["chat"]["id"], "text": answer(message)}
                call(f"{api}/bot{token}/sendMessage", body)
            # Counted only once the person has the link.
            offset = update["update_id"] + 1
    except HTTPError as error:
        print(f"{error.url}: {error.code} {error.read(300)!r}", flush=True)
        if error.code == 403 and error.url.startswith(api):
            # The person has blocked the bot.
            offset += 1
        time.sleep(5)
    except OSError as error:
        print(f"no connection: {error}", flush=True)
        time.sleep(5)
