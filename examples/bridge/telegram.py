"""Tells a Telegram chat which areas are flooded more or less than before.

SIAGA=https://flood.example/v1 TOKEN=<of the bot> CHAT=<id of the chat> python3 telegram.py
"""

import json
import os
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parents[1] / "clients"))
from live import apply, stream  # noqa: E402

base, token, chat = (os.environ[name] for name in ("SIAGA", "TOKEN", "CHAT"))
api = os.environ.get("TELEGRAM", "https://api.telegram.org")


def send(text):
    """Sends a message, and waits as long as Telegram asks for, or ten seconds after other failures."""
    body = json.dumps({"chat_id": chat, "text": text[:4096]}).encode()
    while True:
        try:
            request = Request(f"{api}/bot{token}/sendMessage", body, {"Content-Type": "application/json"})
            return urlopen(request, timeout=30).close()
        except OSError as error:
            limited = isinstance(error, HTTPError) and error.code == 429
            time.sleep(json.load(error)["parameters"]["retry_after"] if limited else 10)


def name(area):
    properties = names.get(area, {})
    return f"{properties.get('parent_name', '')} {properties.get('area_name', area)}".strip()


with urlopen(f"{base}/floods?geoformat=geojson", timeout=60) as response:
    features = json.load(response)["result"]["features"]
names = {str(feature["properties"]["area_id"]): feature["properties"] for feature in features}
states, begun = {}, False
for delta in stream(base, minimum_state=1):
    before = {area: record["state"] for area, record in states.items()}
    apply(states, delta)
    after = {area: record["state"] for area, record in states.items()}
    # What is flooded at the start is no news.
    news = [f"{name(area)}: {before.get(area, 0)} → {after.get(area, 0)}"
            for area in sorted(before.keys() | after.keys()) if begun and before.get(area) != after.get(area)]
    begun = begun or delta["full"]
    if news:
        send("\n".join(news))
