# Runs the bridge to Telegram with a changing service and a stand-in for Telegram, which first rejects. Changes of
# many areas are several messages, and a message that Telegram never accepts blocks no other.
import os
import queue
import subprocess
import sys
import time

from stand_in import StandIn, request, serve

bridge, base, key = sys.argv[1:]
received = queue.Queue()
refusals = [429]


class Telegram(StandIn):
    def do_POST(self):
        body = self.body()
        status = refusals.pop() if refusals else 200
        self.respond(status, {"parameters": {"retry_after": 1}})
        received.put((status, self.path, body))


def set_many(areas, state):
    changes = [{"area_id": area, "state": state} for area in areas]
    request("POST", f"{base}/floods/changes", {"changes": changes}, **{"X-Api-Key": key})


def put(area, state):
    request("PUT", f"{base}/floods/{area}", {"state": state}, **{"X-Api-Key": key})


put(5, 2)
settings = {"SIAGA": base, "TOKEN": "secret", "CHAT": "7", "TELEGRAM": serve(Telegram)}
process = subprocess.Popen([sys.executable, bridge], env=os.environ | settings)
try:
    # It may need a moment until it follows.
    state, refused = 2, None
    while refused is None:
        state = 1 + state % 4
        put(5, state)
        time.sleep(0.2)
        refused = None if received.empty() else received.get()
    again = received.get(timeout=20)
    assert (refused[0], again[0]) == (429, 200) and refused[2] == again[2], (refused, again)
    assert again[1] == "/botsecret/sendMessage" and again[2]["chat_id"] == "7", again
    # The first message has a name, and the state before and after.
    text = again[2]["text"]
    assert " → " in text and "RW" in text and len(text.splitlines()) == 1, text
    while not received.empty():
        received.get()
    refusals.append(400)
    put(5, 1 + state % 4)
    assert received.get(timeout=20)[0] == 400
    features = request("GET", f"{base}/floods?geoformat=geojson", None)["result"]["features"]
    floods = [feature["properties"] for feature in features]
    dry = [int(flood["area_id"]) for flood in floods if flood["state"] is None][:400]
    set_many(dry, 2)
    lines = []
    while len(lines) < len(dry):
        status, _, message = received.get(timeout=20)
        assert status == 200 and len(message["text"]) <= 4096, message
        # A change of the first area may still have been on its way.
        lines += [line for line in message["text"].split("\n") if line.split(":")[0] != text.split(":")[0]]
    assert len(lines) == len(dry) and all(line.endswith(": 0 → 2") for line in lines), lines
finally:
    process.kill()
    process.wait()
