"""A second reader of HTTP/1.1 requests, by the grammar of RFC 9112, and hardly anything beyond it.

Two things it does forgive, since all that is passed on is a path: more than one space behind it,
and any scheme before it.

It shares no code with the proxy's server (aiohttp, on llhttp) and forgives no more: no folded headers,
no bare line feeds, no sign or comma in a length, no length beside a transfer coding, no coding but
`chunked`. What it cannot read it does not read, so that two readers that agree on a request agree for
the same reason.

Rejected: h11, a dependency for one test, which forgives what the RFC lets it forgive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_LINE = re.compile(rf"({_TOKEN}) ([\x21-\x7e]+) +HTTP/1\.([01])")
_FIELD = re.compile(
    rf"({_TOKEN}):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[ \t\x21-\x7e\x80-\xff]*"
    r"[\x21-\x7e\x80-\xff])?)?)[ \t]*"
)
_SIZE = re.compile(r"0*([0-9A-Fa-f]{1,16})(?:[ \t]*;[\x20-\x7e]*)?")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?\[\]]+(?P<path>(?:[/?].*)?)")
_LENGTH = re.compile(r"[0-9]{1,30}")
_END = b"\r\n"


class Rest(Enum):
    """What becomes of the bytes behind the requests that were read."""

    NOTHING = "nothing is left"
    INCOMPLETE = "a request that has not ended"
    REFUSED = "no request"
    BEYOND = "not to be read as a request"  # the connection closes, or speaks another protocol


@dataclass(frozen=True, slots=True)
class ReadRequest:
    method: str
    target: str  # path and query
    headers: tuple[tuple[str, str], ...]  # names in lower case
    body: bytes

    def header(self, name: str) -> str:
        """The first of that name; empty where there is none."""
        return next((value for key, value in self.headers if key == name), "")


class RefusedError(Exception):
    """Not HTTP/1.1."""


class _MoreError(Exception):
    """What came so far is HTTP/1.1, and not all of a request."""


def read_requests(data: bytes) -> tuple[list[ReadRequest], Rest, int]:
    """The requests that stand in these bytes, what follows them, and where."""
    found: list[ReadRequest] = []
    place = 0
    while True:
        while data[place : place + 1] in (b"\r", b"\n"):  # empty lines before one mean nothing
            place += 1
        if place == len(data):
            return found, Rest.NOTHING, place
        try:
            request, place = _read_request(data, place)
        except _MoreError:
            return found, Rest.INCOMPLETE, place
        except RefusedError:
            return found, Rest.REFUSED, place
        found.append(request)
        if _ends_connection(request):
            return found, Rest.BEYOND if place < len(data) else Rest.NOTHING, place


def _read_request(data: bytes, place: int) -> tuple[ReadRequest, int]:
    line, place = _line(data, place)
    found = _LINE.fullmatch(line)
    if found is None:
        raise RefusedError(line)
    method, target, minor = found.groups()
    headers, place = _fields(data, place)
    if minor == "0":
        headers = [*headers, (":version", "1.0")]
    body, place = _body(data, place, headers, minor)
    return ReadRequest(method, _path_of(method, target), tuple(headers), body), place


def _path_of(method: str, target: str) -> str:
    target = target.partition("#")[0].removesuffix("?")  # neither says anything to a server
    if target.startswith("/") or (target == "*" and method == "OPTIONS"):
        return target
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None or method == "CONNECT":
        raise RefusedError(target)
    path = absolute["path"]
    return path if path.startswith("/") else f"/{path}"


def _line(data: bytes, place: int) -> tuple[str, int]:
    end = data.find(_END, place)
    text = data[place : end if end >= 0 else len(data)]
    if end < 0 and text.endswith(b"\r"):
        text = text[:-1]
    if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", text):
        raise RefusedError(text)
    if end < 0:
        raise _MoreError
    return text.decode("latin-1"), end + len(_END)


def _fields(data: bytes, place: int) -> tuple[list[tuple[str, str]], int]:
    fields: list[tuple[str, str]] = []
    while True:
        line, place = _line(data, place)
        if not line:
            return fields, place
        found = _FIELD.fullmatch(line)
        if found is None:
            raise RefusedError(line)
        fields.append((found[1].lower(), found[2]))


def _body(data: bytes, place: int, headers: list[tuple[str, str]], minor: str) -> tuple[bytes, int]:
    lengths = [value for name, value in headers if name == "content-length"]
    codings = [
        word.strip(" \t").lower()
        for name, value in headers
        if name == "transfer-encoding"
        for word in value.split(",")
        if word.strip(" \t")  # empty elements of a list are allowed, and mean nothing
    ]
    if codings:
        if codings != ["chunked"] or lengths or minor == "0":
            raise RefusedError(codings)
        return _chunks(data, place)
    if not lengths:
        return b"", place
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]) or int(lengths[0]) >= 2**64:
        raise RefusedError(lengths)
    end = place + int(lengths[0])
    if end > len(data):
        raise _MoreError
    return data[place:end], end


def _chunks(data: bytes, place: int) -> tuple[bytes, int]:
    body = b""
    while True:
        line, place = _line(data, place)
        found = _SIZE.fullmatch(line)
        if found is None:
            raise RefusedError(line)
        size = int(found[1], 16)
        if size == 0:
            trailers, place = _fields(data, place)
            if any(name in ("content-length", "transfer-encoding") for name, _ in trailers):
                raise RefusedError(trailers)
            return body, place
        if place + size + len(_END) > len(data):
            tail = data[place + size :]
            if tail and not _END.startswith(tail):
                raise RefusedError(tail)
            raise _MoreError
        if not data.startswith(_END, place + size):
            raise RefusedError(line)
        body += data[place : place + size]
        place += size + len(_END)


def _ends_connection(request: ReadRequest) -> bool:
    words = {
        word.strip().lower()
        for name, value in request.headers
        if name in ("connection", "proxy-connection")
        for word in value.split(",")
    }
    if request.method == "CONNECT" or ("upgrade" in words and request.header("upgrade")):
        return True
    is_old = request.header(":version") == "1.0"
    return "close" in words or (is_old and "keep-alive" not in words)
