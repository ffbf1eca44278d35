"""Passes requests on to the API server and answers back, piece by piece.

Promise: answers come unchanged, whatever their code; an event of a watch or a line of a log is never
held back; memory stays flat whatever the size. Short answers are collected first, because one write of
headers and body together costs half of what two cost.

The hard part is an API server that breaks off in the middle: headers are out by then, so all that can
be done is to break off too. Ending properly would pass half a list off as a whole one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from rolecall.kube import Client
from rolecall.proxy.exchange import Exchange, end_to_end

# What the API server itself takes as the body of a create, an update or an apply.
BODY_LIMIT = 3 * 1024 * 1024
# Bodies up to this are handled in one piece; a write's answer above it is not noted as our own.
SHORT_BODY = 256 * 1024
# Answers about Secrets up to this: an extension that masks their values must know them before the play
# does. Any single Secret fits. All else waits while one is read, so a longer list is passed on piece by
# piece.
SHORT_SECRETS = 2 * 1024 * 1024
_CONNECT_S = 10.0
# Longer than the API server takes to give up on an ordinary request by itself.
_SILENCE_S = 120.0
# The same for a body: a play that sends one has it at hand.
_BODY_SILENCE_S = 60.0
# More in one write would copy megabytes while everything else waits.
_WRITTEN_AT_ONCE = 1024 * 1024
_PIECE = 64 * 1024
_EMPTY_CODES = frozenset({204, 304})

OnBytes = Callable[[bytes], None]
OnWritten = Callable[[bytes], Awaitable[bytes]]


class BodyStalledError(Exception):
    """Nothing more comes of a body: its sender hangs, or the HTTP server could not read on in it."""


class BodyTooLargeError(Exception):
    """A body that must be read as a whole is larger than the API server would take."""


class Forwarder:
    """Sends requests to the API server through the engine's client, which adds its login."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def send(
        self,
        exchange: Exchange,
        body: bytes | AsyncIterable[bytes] | None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a play's request on, with this body."""
        silence_s = None if exchange.is_endless or exchange.is_upgrade else _SILENCE_S
        limits = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=silence_s)
        sent = CIMultiDict(exchange.headers if headers is None else headers)
        if isinstance(body, bytes):
            sent["Content-Length"] = str(len(body))
            if len(body) > _WRITTEN_AT_ONCE:
                body = _in_pieces(body)
        return self._client.request_raw(
            exchange.method, exchange.target, headers=sent, body=body, limits=limits
        )

    def read(
        self, exchange: Exchange, accept: str
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Read the object that a write is about, as the user of that write."""
        path, _, _ = exchange.target.partition("?")
        return self._client.request_raw("GET", path, headers=exchange.headers_to_read(accept))

    def merge(
        self, exchange: Exchange, body: bytes
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Merge more into the object that a write was about, as the user of that write."""
        path, _, _ = exchange.target.partition("?")
        headers = exchange.headers_to_read(exchange.request.headers.get("Accept", "*/*"))
        headers["Content-Type"] = "application/merge-patch+json"
        limits = aiohttp.ClientTimeout(total=_SILENCE_S)
        return self._client.request_raw("PATCH", path, headers=headers, body=body, limits=limits)

    def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Ask something of our own in a play's name."""
        limits = aiohttp.ClientTimeout(total=_SILENCE_S, sock_connect=_CONNECT_S)
        return self._client.request_raw(
            method, target, headers=headers, body=body or None, limits=limits
        )


async def body_to_send(exchange: Exchange) -> bytes | AsyncIterable[bytes] | None:
    """The body of a request to be sent on unread: whole where it is short, else as it arrives.

    Of a delete always whole: it alone says whether anything is kept.
    """
    request = exchange.request
    if not request.body_exists:
        return None
    length = request.content_length
    if exchange.method == "DELETE" or (length is not None and length <= SHORT_BODY):
        return await receive_body(exchange)
    _send_continue(request)
    return _arriving(request)


async def receive_body(exchange: Exchange) -> bytes:
    """The whole body of a request; raises `BodyTooLargeError`."""
    request = exchange.request
    if (request.content_length or 0) > BODY_LIMIT:
        raise BodyTooLargeError
    _send_continue(request)
    pieces: list[bytes] = []
    size = 0
    async for piece in _arriving(request):
        size += len(piece)
        if size > BODY_LIMIT:
            raise BodyTooLargeError
        pieces.append(piece)
    body = b"".join(pieces)
    if exchange.follower is not None:
        exchange.follower.sent(body)
    return body


async def pass_answer(
    exchange: Exchange,
    response: aiohttp.ClientResponse,
    *,
    on_chunk: OnBytes | None = None,
    on_whole: OnBytes | None = None,
    on_written: OnWritten | None = None,
) -> web.StreamResponse:
    """Pass an answer back as it comes; `on_chunk` sees every piece, `on_whole` a short one whole.

    `on_written` sees a short one too, and what it returns is passed back in its place.
    """
    is_endless = exchange.is_endless and response.status < 400  # a refusal is short, and read whole
    if is_endless or exchange.method == "HEAD":
        return await _stream(exchange, response, b"", on_chunk)
    most = SHORT_SECRETS if exchange.info.is_about_secrets else SHORT_BODY
    start, is_whole = await _read_short(response, most)
    if on_chunk is not None:
        on_chunk(start)
    if not is_whole:
        return await _stream(exchange, response, start, on_chunk)
    if on_whole is not None:
        on_whole(start)
    if on_written is not None:
        start = await on_written(start)
    return whole_answer(response, start)


def whole_answer(response: aiohttp.ClientResponse, body: bytes) -> web.Response:
    """An answer that was read to its end."""
    headers = end_to_end(response.headers)
    headers.popall("Content-Length", None)
    if response.status in _EMPTY_CODES:
        return web.Response(status=response.status, headers=headers)
    return web.Response(status=response.status, headers=headers, body=body)


async def _read_short(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """The beginning of an answer, and whether that is all of it."""
    pieces: list[bytes] = []
    size = 0
    while size < most:
        piece = await response.content.readany()
        if not piece:
            return b"".join(pieces), True
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), response.content.at_eof()


async def _stream(
    exchange: Exchange,
    response: aiohttp.ClientResponse,
    start: bytes,
    on_chunk: OnBytes | None,
) -> web.StreamResponse:
    out = web.StreamResponse(status=response.status, headers=end_to_end(response.headers))
    await out.prepare(exchange.request)
    follower = exchange.follower
    if follower is not None:
        follower.answering(response.status, response.content_type)
        follower.answered(start)
    try:
        if start:
            await out.write(start)
        async for chunk in response.content.iter_any():
            if on_chunk is not None:
                on_chunk(chunk)
            if follower is not None:
                follower.answered(chunk)
            await out.write(chunk)
        await out.write_eof()
    except (aiohttp.ClientError, OSError, TimeoutError):
        _break_off(exchange)
    except Exception:  # a bug: what follows an answer's beginning must not be another answer
        _break_off(exchange)
        raise
    return out


def _break_off(exchange: Exchange) -> None:
    if exchange.request.transport is not None:
        exchange.request.transport.abort()


async def _arriving(request: web.BaseRequest) -> AsyncIterator[bytes]:
    """A body, piece by piece; raises `BodyStalledError`."""
    while True:
        try:
            async with asyncio.timeout(_BODY_SILENCE_S):
                piece = await request.content.readany()
        except TimeoutError:
            raise BodyStalledError from None
        if not piece:
            return
        yield piece


async def _in_pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def _send_continue(request: web.BaseRequest) -> None:
    """Allow a client that asked (curl, for large bodies) to go on with its body."""
    is_asked = request.headers.get("Expect", "").lower() == "100-continue"
    if is_asked and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
