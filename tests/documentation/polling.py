# Follows the block of the page: against the service, and against one that refuses, fails and changes as it is told.
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests

from changes import changes

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

# What is answered: the status, and what else of headers.
script = [(503, {}), (429, {"Retry-After": "1"}), (200, {"ETag": '"a"'}), (304, {}), (200, {"ETag": '"b"'}), (403, {})]
asked = []


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append((time.monotonic(), self.headers["If-None-Match"]))
        status, headers = script[len(asked) - 1]
        self.send_response(status)
        for header in headers.items():
            self.send_header(*header)
        self.end_headers()
        if status != 304:
            self.wfile.write(json.dumps({"result": len(asked), "message": "no"}).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
answers = changes(f"http://127.0.0.1:{server.server_port}/", 0.05)
assert [next(answers), next(answers)] == [3, 5]
try:
    next(answers)
    raise AssertionError("a refusal was not told")
except ValueError as error:
    assert "no" in str(error)
assert [tag for _, tag in asked] == [None, None, None, '"a"', '"a"', '"b"'], asked
assert asked[2][0] - asked[1][0] >= 0.99, "Retry-After was not waited for"
