"""Follows the flood states of a Siaga service, with the standard library alone.

    states = {}
    for delta in stream("https://flood.example/v1"):
        apply(states, delta)

`stream` reads server-sent events, `changes` sends requests that wait. Both yield deltas for ever, the first of them with all
states, and go on where they were when the connection is lost. A delta of a stream has `stale`, until when the states are known to be
current, if the service cannot read its data any more. They are current again after the next delta with other areas, or with none.
"""

import json
import random
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

AGENT = "flood-bot/1.0 (ops@example.org)"


def apply(states, delta):
    """Applies a delta to a dictionary of states by `area_id`."""
    if delta["full"]:
        states.clear()
    for area in delta["areas"]:
        if area["state"] is None:
            states.pop(area["area_id"], None)
        else:
            states[area["area_id"]] = area


def changes(base, every=60, **select):
    """Yields deltas by requests that wait for a change. Polls every `every` seconds if the service lets none wait."""
    cursor, failures = None, 0
    while True:
        begun, pause = time.monotonic(), 0
        since = {"since": cursor, "wait": 30} if cursor else {}
        try:
            with _get(f"{base}/changes", select | since) as response:
                delta = json.load(response)["result"]
        except (OSError, HTTPException, ValueError) as error:
            failures += 1
            pause = _pause(error, failures)
        else:
            failures, cursor = 0, delta["cursor"]
            if delta["full"] or delta["areas"] or delta["changed"]:
                yield delta
            elif time.monotonic() - begun < 1:
                pause = every
        time.sleep(pause)


def stream(base, **select):
    """Yields deltas by a stream; by `changes` if the service has no streams."""
    cursor, failures = None, 0
    while True:
        try:
            headers = {"Last-Event-ID": cursor} if cursor else {}
            with _get(f"{base}/changes/stream", select, headers) as response:
                if response.status == 204:
                    break
                for event, data, cursor in _events(response, cursor):
                    failures = 0
                    if event == "areas":
                        yield data | {"changed": []}
                    elif event == "changed":
                        yield {"cursor": cursor, "full": False, "areas": [], "changed": data}
                    elif event == "stale":
                        yield {"cursor": cursor, "full": False, "areas": [], "changed": [], "stale": data["stale_since"]}
            # The server ends a stream after an hour, and when it shuts down.
            time.sleep(2 * random.random())
        except (OSError, HTTPException) as error:
            failures += 1
            time.sleep(_pause(error, failures))
    yield from changes(base, **select)


def _events(lines, cursor):
    """Yields each event with its name, its data and the cursor after it. An event that is cut off does not count."""
    event, data, last = "", "", cursor
    for line in lines:
        field, _, value = line.decode().rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if not line.endswith(b"\n"):
            return
        if field == "event":
            event = value
        elif field == "data":
            data += value
        elif field == "id":
            last = value
        elif not line.strip():
            cursor = last
            if data:
                yield event, json.loads(data), cursor
            event, data = "", ""


def _get(address, query, headers={}):
    """Opens an address. A comment comes every 10 seconds, so a connection that is silent for a minute is lost."""
    return urlopen(Request(f"{address}?{urlencode(query)}", headers={"User-Agent": AGENT, **headers}), timeout=60)


def _pause(error, failures):
    """Returns how long to wait after a failure, in seconds. Raises it if a retry would change nothing."""
    if isinstance(error, HTTPError) and error.code < 500 and error.code not in (408, 429):
        raise error
    asked = error.headers.get("Retry-After", "") if isinstance(error, HTTPError) else ""
    least = int(asked) if asked.isdigit() else 0
    return max(least, min(2**failures, 300)) * (1 + random.random() / 5)
