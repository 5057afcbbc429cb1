# Sends the webhook request of a report to the program that sends mails, with a server that stands for the mail server of the machine.
import socket
import subprocess
import sys
import time
from threading import Thread
from urllib.request import Request, urlopen

program = sys.argv[1]
mails = []


def serve(listener):
    """Takes mails (RFC 5321)."""
    while True:
        connection, _ = listener.accept()
        lines = connection.makefile("rwb")
        say = lambda text: (lines.write(text + b"\r\n"), lines.flush())
        say(b"220 ready")
        while line := lines.readline():
            command = line.split()[0].upper()
            if command == b"DATA":
                say(b"354 go on")
                mails.append(b"".join(iter(lines.readline, b".\r\n")).decode())
            say(b"221 bye" if command == b"QUIT" else b"250 ok")
            if command == b"QUIT":
                break
        connection.close()


def free():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


listener = socket.create_server(("127.0.0.1", 0))
Thread(target=serve, args=(listener,), daemon=True).start()
port, smtp = free(), str(listener.getsockname()[1])
process = subprocess.Popen([sys.executable, program, port, "staff@agency.example", smtp])
try:
    for _ in range(600):
        try:
            text = "Banjir setinggi lutut ☔\n.\nRW 03".encode()
            assert urlopen(Request(f"http://127.0.0.1:{port}/", text), timeout=10).status == 204
            break
        except OSError:
            time.sleep(0.1)
    assert len(mails) == 1, mails
    for part in ("To: staff@agency.example", "Subject: A report of a resident", "Content-Transfer-Encoding"):
        assert part in mails[0], mails
finally:
    process.kill()
    process.wait()
