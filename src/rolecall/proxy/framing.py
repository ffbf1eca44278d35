"""Refuses requests of which a server behind us might make something else than we do.

The HTTP server takes more than RFC 9112 asks for, and hands on what it took as if it were plain: a
method that makes a tunnel of the connection (`CONNECT`, after which a gateway would read the next
request as bytes of another client), a body that was coded twice (`gzip, chunked`) with the outer coding
taken off alone, a version that has no such requests. The API server has a use for none of them, and no
client sends them.
"""

from __future__ import annotations

from aiohttp import HttpVersion10, HttpVersion11, web

_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_VERSIONS = frozenset({HttpVersion10, HttpVersion11})
_EMPTY_ELEMENT = ", \t"


def refused_framing(request: web.BaseRequest) -> tuple[int, str] | None:
    """Code and reason, where a request cannot be handed on and surely mean the same."""
    if request.method not in _METHODS:
        return 405, f"the method was refused; the API server knows {', '.join(sorted(_METHODS))}"
    if request.version not in _VERSIONS:
        return 400, "a request of another version than HTTP/1.0 and HTTP/1.1 was refused"
    codings = [coding.strip(_EMPTY_ELEMENT) for coding in _codings_of(request)]
    if codings and request.version == HttpVersion10:
        return 400, "a transfer coding in HTTP/1.0, which has none, was refused"
    if codings and [coding.lower() for coding in codings if coding] != ["chunked"]:
        return 400, "a body with another transfer coding than `chunked` was refused"
    return None


def _codings_of(request: web.BaseRequest) -> list[str]:
    return request.headers.getall("Transfer-Encoding", [])
