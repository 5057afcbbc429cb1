# A stand-in server, and requests to a service.
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen


class StandIn(BaseHTTPRequestHandler):
    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def respond(self, status, body=None, headers={}):
        self.send_response(status)
        for header in headers.items():
            self.send_header(*header)
        self.end_headers()
        if body is not None:
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def log_message(self, *_):
        pass


def serve(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def request(method, address, body, **headers):
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, content, {"Content-Type": "application/json", **headers}, method=method)) as response:
        return json.load(response)
