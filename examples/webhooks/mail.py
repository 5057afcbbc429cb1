"""Sends the body of each request as a mail, by the mail server of this machine: python3 mail.py 8025 staff@agency.example"""
import smtplib, sys
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        mail = EmailMessage()
        mail["Subject"], mail["From"], mail["To"] = "A report of a resident", sys.argv[2], sys.argv[2]
        mail.set_content(self.rfile.read(int(self.headers["Content-Length"])).decode())
        with smtplib.SMTP("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 25, timeout=10) as server:
            server.send_message(mail)
        self.send_response(204)
        self.end_headers()

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
