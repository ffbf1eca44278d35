"""Joins two connections into one, for exec, attach and port-forward over WebSocket or SPDY.

Promise: after the API server's 101, bytes pass both ways unread until either side ends; a slow side
slows the other instead of filling memory; the run's end cuts the connection, and so does the first
piece that the run sends after the right to act for its CR was lost. An answer other than 101
is passed back as any answer.

The hard part is the seam: bytes that the API server sent together with its 101 were already read by the
HTTP client and must come first. Speaking WebSocket on both sides was rejected: SPDY needs another
implementation, and a protocol that is not understood cannot be misunderstood.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import aiohttp
from aiohttp import web

from rolecall.proxy.exchange import Exchange, end_to_end
from rolecall.proxy.forward import Forwarder, body_to_send, pass_answer


class _Pipe(asyncio.Protocol):
    """One side of a joined connection: writes what it receives to the other side, while it may."""

    def __init__(
        self,
        target: asyncio.Transport,
        on_lost: Callable[[Exception | None], None],
        may_pass: Callable[[], bool] = lambda: True,
    ) -> None:
        self._target = target
        self._on_lost = on_lost
        self._may_pass = may_pass

    def data_received(self, data: bytes) -> None:
        if self._target.is_closing():
            return
        if self._may_pass():
            self._target.write(data)
        else:
            _cut(self._target)

    def pause_writing(self) -> None:
        if not self._target.is_closing():
            self._target.pause_reading()

    def resume_writing(self) -> None:
        if not self._target.is_closing():
            self._target.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """What was received is still delivered, then the other side ends too."""
        if not self._target.is_closing():
            self._target.close()
        self._on_lost(exc)


class _Leftover:
    """Takes over what the HTTP client read beyond the 101; it hands it over at once."""

    def __init__(self) -> None:
        self.data = b""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Keep bytes; no protocol error."""
        self.data += data
        return False, b""


class JoinedResponse(web.StreamResponse):
    """Stands for an answer that was given on the bare connection."""

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing to send."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing to end."""


async def join(exchange: Exchange, forwarder: Forwarder) -> web.StreamResponse:
    """Ask the API server to switch protocols, and become a wire if it does."""
    upgrade = exchange.request.headers["Upgrade"]
    headers = exchange.headers_with({"Connection": "Upgrade", "Upgrade": upgrade})
    body = await body_to_send(exchange)
    async with forwarder.send(exchange, body, headers=headers) as response:
        if response.status != 101:
            return await pass_answer(exchange, response)
        await _splice(exchange, response)
        response.close()
    return JoinedResponse()


async def _splice(exchange: Exchange, response: aiohttp.ClientResponse) -> None:
    connection, near = response.connection, exchange.request.transport
    if connection is None or near is None or connection.protocol is None:
        return
    far = connection.transport
    if far is None:
        return
    leftover = _Leftover()
    connection.protocol.set_parser(leftover, None)
    ended = asyncio.Event()
    # The HTTP server must learn that its connection is gone; it then cancels this very task.
    may_write = exchange.credential.may_write
    near.set_protocol(_Pipe(far, near.get_protocol().connection_lost, may_write))
    far.set_protocol(_Pipe(near, lambda _: ended.set()))
    try:
        near.write(_head_of(response) + leftover.data)
        far.resume_reading()
        await ended.wait()
    except asyncio.CancelledError:
        _cut(near)
        _cut(far)
        raise


def _cut(transport: asyncio.Transport) -> None:
    """End it now. A transport over TLS that was closed twice forgets its connection, and then breaks.

    The second close is the HTTP client's, when the engine stops.
    """
    with suppress(AttributeError):
        transport.abort()


def _head_of(response: aiohttp.ClientResponse) -> bytes:
    headers = end_to_end(response.headers)
    headers["Connection"] = "Upgrade"
    headers["Upgrade"] = response.headers.get("Upgrade", "")
    lines = [f"HTTP/1.1 101 {response.reason or 'Switching Protocols'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
