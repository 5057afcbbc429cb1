# Follows the clients of live.py: with the service, and with servers that refuse, end and cut what it sends.
import sys
import threading
from itertools import islice

import live
from live import apply, changes, stream
from stand_in import StandIn, request, serve

base, key = sys.argv[2:]


def put(area, state):
    request("PUT", f"{base}/floods/{area}", {"state": state}, **{"X-Api-Key": key})


def states_of(address):
    return {area["area_id"]: area["state"] for area in request("GET", f"{address}/floods/states", None)["result"]}


def follow(deltas, wanted):
    """Applies deltas until the states are as wanted."""
    states = {}
    for delta in deltas:
        apply(states, delta)
        if wanted({area: record["state"] for area, record in states.items()}):
            return


# With the service: a change while the client waits.
for number, deltas in enumerate([stream(base), changes(base)]):
    state = 1 + number
    threading.Timer(1, put, [5, state]).start()
    follow(deltas, lambda states: states.get("5") == state and states == states_of(base))

# Streams are rejected, then absent: the client waits for Retry-After, then uses long polls.
CHANGES = [
    {"cursor": "a", "full": True, "areas": [{"area_id": "1", "state": 2}], "changed": []},
    {"cursor": "b", "full": False, "areas": [{"area_id": "1", "state": None}], "changed": []},
]
requested = []


class Refusing(StandIn):
    script = [(503, {}), (429, {"Retry-After": "1"}), (204, {}), (500, {}), (200, {}), (200, {})]

    def do_GET(self):
        requested.append(self.path)
        status, headers = self.script[len(requested) - 1]
        self.respond(status, {"result": CHANGES[len(requested) - 5]} if status == 200 else None, headers)


slept, live.time.sleep = [], lambda seconds: slept.append(seconds)
assert list(islice(stream(serve(Refusing)), 2)) == CHANGES
assert [path.split("?")[0] for path in requested] == ["/changes/stream"] * 3 + ["/changes"] * 3, requested
assert "since=a&wait=30" in requested[-1] and "since" not in requested[-2], requested
assert len([seconds for seconds in slept if seconds >= 1]) == 3, slept

# The stream is cut after each byte. The client resumes after the last complete event.
EVENTS = [
    'retry:2000\n:\n\nevent:changed\ndata:["reports"]\n\nevent:areas\nid:1\ndata:{"cursor":"1","full":true,'
    '"areas":[{"area_id":"1","state":1},{"area_id":"2","state":2}],"changed":["reports"]}\n\n',
    ':\n\nevent:areas\nid:2\ndata:{"cursor":"2","full":false,"areas":[{"area_id":"1","state":4}],"changed":[]}\n\n',
    'event:changed\nid:3\ndata:["gauges"]\n\n',
    'event:changed\ndata:["reports"]\n\nevent:areas\nid:4\ndata:{"cursor":"4","full":false,'
    '"areas":[{"area_id":"2","state":null},{"area_id":"3","state":3}],"changed":["reports"]}\n\n',
]
cuts, last_ids = [], []


class Cutting(StandIn):
    def do_GET(self):
        last = self.headers["Last-Event-ID"]
        last_ids.append(last)
        rest = "".join(EVENTS[int(last or 0) :]).encode()
        self.respond(200, rest[: cuts.pop()] if cuts else rest)


address, whole = serve(Cutting), len("".join(EVENTS))
for cut in range(whole + 1):
    cuts, names = [cut], []
    states, deltas = {}, stream(address)
    for delta in deltas:
        apply(states, delta)
        names += delta["changed"]
        if delta["cursor"] == "4":
            break
    assert {area: record["state"] for area, record in states.items()} == {"1": 4, "3": 3}, (cut, states)
    assert {"reports", "gauges"} <= set(names) and names[-1] == "reports", (cut, names)
assert {None, "1", "2", "3"} <= set(last_ids), last_ids
