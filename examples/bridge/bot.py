"""What the bots here share: requests that no single person can block, and the languages of people.

Nothing that is printed contains an address of Telegram, because the token of the bot is in it.
"""

import json
import os
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

token = os.environ["TOKEN"].strip()
telegram = os.environ.get("TELEGRAM", "https://api.telegram.org").rstrip("/")
# The longest message, as Telegram counts it: in units of UTF-16.
LONGEST = 4096
# Old phones still write the old code of Indonesian.
OLD_CODES = {"in": "id"}


class Refused(Exception):
    """The same request would be refused again: this person cannot be reached, or the request is wrong."""


class Away(Exception):
    """The same request may succeed later, after `seconds`."""

    def __init__(self, seconds=5):
        super().__init__(seconds)
        self.seconds = seconds


def ask(name, address, body=None, headers=None, method=None, read=json.loads, timeout=90, for_all=(401, 404)):
    """Requests once, and returns what `read` makes of the body. `for_all` are refusals that are not about one person."""
    try:
        with urlopen(Request(address, body, headers or {}, method=method), timeout=timeout) as response:
            return read(response.read(20_000_000))
    except HTTPError as error:
        try:
            told = json.loads(error.read(10_000))
        except (OSError, HTTPException, ValueError):
            told = {}
        told = told if isinstance(told, dict) else {}
        print(f"{name}: {error.code} {told.get('description') or told.get('message') or ''}".replace(token, "…"), flush=True)
        if 400 <= error.code < 500 and error.code not in (408, 429, *for_all):
            raise Refused(error.code) from None
        raise Away((told.get("parameters") or {}).get("retry_after", 5)) from None
    except (OSError, HTTPException, ValueError) as error:
        print(f"{name}: no response, {type(error).__name__}", flush=True)
        raise Away() from None


def insist(*arguments, **options):
    """Requests until there is a response. Raises `Refused`."""
    while True:
        try:
            return ask(*arguments, **options)
        except Away as away:
            time.sleep(away.seconds)


def call(method, body, request=insist, **options):
    """Calls a method of Telegram."""
    headers = {"Content-Type": "application/json"}
    return request(method, f"{telegram}/bot{token}/{method}", json.dumps(body).encode(), headers, **options)


def send(chat, text, request=insist, **options):
    """Sends a text, in several messages if it is long. Raises `Refused`."""
    for part in parts(text):
        call("sendMessage", {"chat_id": chat, "text": part}, request, read=bytes, **options)


def parts(text):
    """Splits a text between lines, so that no part is longer than Telegram allows. A longer line is cut."""
    part = ""
    for line in text.split("\n"):
        pieces = [line[start:start + LONGEST // 2] for start in range(0, len(line), LONGEST // 2)] or [""]
        for number, piece in enumerate(pieces):
            longer = part + ("\n" if part and not number else "") + piece
            if len(longer.encode("utf-16-le")) // 2 > LONGEST:
                yield part
                longer = piece
            part = longer
    if part:
        yield part


def language(code, known):
    """Returns the language of a person among the `known` ones, of which the first is for all others."""
    code = (code or "").lower().replace("_", "-").split("-")[0]
    code = OLD_CODES.get(code, code)
    return code if code in known else next(iter(known))
