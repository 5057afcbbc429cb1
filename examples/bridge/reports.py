"""A Telegram bot that sends each person who writes to it a link to the form for reports. A photo that the person sends to the bot
after the report is added to it.

SIAGA=https://flood.example/v1 KEY=<with the scope cards:write> TOKEN=<of the bot> python3 reports.py
"""

import json
import os
import time
from urllib.parse import urlsplit

from bot import Refused, call, insist, language, send, telegram, token

base, key = os.environ["SIAGA"].rstrip("/"), os.environ["KEY"].strip()
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


def words(user):
    return WORDS[language(user.get("language_code"), WORDS)]


def link(user):
    """Makes a card. Siaga does not need to know who the person is: the number of the user is enough for the bot."""
    holder = {"username": str(user["id"]), "network": "telegram", "language": language(user.get("language_code"), WORDS)}
    headers = {"Content-Type": "application/json", "X-Api-Key": key}
    # A wrong key is not the fault of the person, who gets the link once it is right.
    card = insist("Siaga, cards", f"{base}/cards", json.dumps(holder).encode(), headers, for_all=(403, 404))
    cards[user["id"]] = card["cardId"]
    while len(cards) > 10_000:
        del cards[next(iter(cards))]
    return words(user)["link"].format(link=f"{site}/report/{cards[user['id']]}")


def add_photo(user, sizes):
    """Adds a photo to the person's report. Telegram makes a JPEG of each photo, in several sizes of which the last is the largest."""
    if user["id"] not in cards:
        return link(user)
    try:
        path = call("getFile", {"file_id": sizes[-1]["file_id"]})["result"]["file_path"]
        photo = insist("getFile", f"{telegram}/file/bot{token}/{path}", read=bytes, for_all=())
        images = f"{base}/cards/{cards[user['id']]}/images?file_type=image/jpeg"
        invitation = insist("Siaga, images", images, headers={"X-Api-Key": key}, for_all=(403,))
        insist("Siaga, upload", invitation["signedRequest"], photo, {"Content-Type": "image/jpeg"}, "PUT", bytes, for_all=())
    except Refused:
        # The card has no report yet or a photo already, or the file is none.
        return words(user)["no photo"]
    return words(user)["photo"]


def answer(message):
    user = message["from"]
    return add_photo(user, message["photo"]) if message.get("photo") else link(user)


def respond(update):
    message = update.get("message", {})
    # In groups, people would take each other's links.
    if message.get("chat", {}).get("type") == "private" and "from" in message:
        send(message["chat"]["id"], answer(message))


offset = 0
while True:
    try:
        # Telegram holds the request until somebody writes, for at most 50 seconds.
        updates = call("getUpdates", {"offset": offset, "timeout": 50, "allowed_updates": ["message"]})["result"]
    except Refused:
        time.sleep(5)
        continue
    for update in updates:
        try:
            respond(update)
        except Refused:
            # Such as a person who has blocked the bot: the next one is waiting.
            pass
        # Counted only once the person has the link, or cannot be reached.
        offset = update["update_id"] + 1
