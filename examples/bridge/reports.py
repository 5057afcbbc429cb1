"""A Telegram bot that sends each person who writes to it a link to the form for reports.

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
    "id": "Laporkan di sini, satu tautan untuk satu laporan: {link}\nDalam keadaan darurat, hubungi 112.",
    "en": "Report here, one link for one report: {link}\nIn an emergency, call 112.",
}


def call(address, body, **headers):
    request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request, timeout=90) as response:
        return json.load(response)


def link(user):
    """Makes a card. Siaga does not need to know who the person is: the number of the user is enough for the bot."""
    language = user.get("language_code", "id")[:2]
    language = language if language in WORDS else "id"
    holder = {"username": str(user["id"]), "network": "telegram", "language": language}
    card = call(f"{base}/cards", holder, **{"X-Api-Key": key})["cardId"]
    return language, f"{site}/report/{card}"


offset = 0
while True:
    try:
        # Telegram holds the request until somebody writes, for at most 50 seconds.
        updates = call(f"{api}/bot{token}/getUpdates", {"offset": offset, "timeout": 50, "allowed_updates": ["message"]})
        for update in updates["result"]:
            message = update.get("message", {})
            # In groups, people would take each other's links.
            if message.get("chat", {}).get("type") == "private" and "from" in message:
                language, address = link(message["from"])
                text = WORDS[language].format(link=address)
                call(f"{api}/bot{token}/sendMessage", {"chat_id": message["chat"]["id"], "text": text})
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
