"""Sends changes of flood states to a Telegram chat.

SIAGA=https://flood.example/v1 TOKEN=<of the bot> CHAT=<id of the chat> python3 telegram.py
"""

import json
import os
import sys
from pathlib import Path
from urllib.request import urlopen

from bot import Refused, send

sys.path.insert(0, str(Path(__file__).parents[1] / "clients"))
from live import apply, stream  # noqa: E402

base, chat = os.environ["SIAGA"].rstrip("/"), os.environ["CHAT"]


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
    # Areas flooded at startup are not news.
    news = [f"{name(area)}: {before.get(area, 0)} → {after.get(area, 0)}"
            for area in sorted(before.keys() | after.keys()) if begun and before.get(area) != after.get(area)]
    begun = begun or delta["full"]
    if news:
        try:
            send(chat, "\n".join(news))
        except Refused:
            # Telegram never accepts these messages; the next news may be accepted again.
            pass
