# Runs the code block of the page against the service, and against a scripted one that rejects, fails and changes.
import sys
import threading
import time

import requests

from changes import changes
from stand_in import StandIn, serve

address, key = sys.argv[1:]


def put(state):
    url = address.replace("states", "5")
    requests.put(url, json={"state": state}, headers={"X-Api-Key": key}).raise_for_status()


def state(areas):
    return next(area["state"] for area in areas if area["area_id"] == "5")


told = changes(address, 0.1)
put(2)
assert state(next(told)) == 2
threading.Timer(0.5, put, [3]).start()
assert state(next(told)) == 3

# Scripted responses: status and further headers.
script = [(503, {}), (429, {"Retry-After": "1"}), (200, {"ETag": '"a"'}), (304, {}), (200, {"ETag": '"b"'}), (403, {})]
asked = []


class Server(StandIn):
    def do_GET(self):
        asked.append((time.monotonic(), self.headers["If-None-Match"]))
        status, headers = script[len(asked) - 1]
        self.respond(status, None if status == 304 else {"result": len(asked), "message": "no"}, headers)


answers = changes(f"{serve(Server)}/", 0.05)
assert [next(answers), next(answers)] == [3, 5]
try:
    next(answers)
    raise AssertionError("a refusal was not told")
except ValueError as error:
    assert "no" in str(error)
assert [tag for _, tag in asked] == [None, None, None, '"a"', '"a"', '"b"'], asked
assert asked[2][0] - asked[1][0] >= 0.99, "Retry-After was not waited for"
