"""What a listener grants to people who have not said yet who they are: connections, time, and no more.

All our listeners share it. A connection counts from the moment it is accepted, before any TLS, since
each costs a quarter of a megabyte from then on. It has a time limit for its handshake and the head of
its first request, each further head one from its first byte on, and each body one. Where there are too
many, the one that has been without a request for longest makes room; while each has one, new ones are
closed. Rejected: asyncio's own server with a protocol that counts, which learns of a connection only
after its handshake.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_BACKLOG = 128
_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
_FULL_S = 0.5  # until the next look, where the process has no descriptor left
_SAID_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class HttpLimits:
    connections: int = 128
    head_s: float = 10.0  # for the handshake, and for the head of a request
    body_s: float = 30.0


def bound_sockets(host: str | None, port: int) -> list[socket.socket]:
    """Listening sockets; no host means every interface and both families. Raises `OSError`."""
    if host is None:
        if socket.has_dualstack_ipv6():
            try:
                return [_bound("", port, socket.AF_INET6, is_dual=True)]
            except OSError as failure:
                if failure.errno not in _NO_SUCH_ADDRESS:
                    raise
        return [_bound("", port, socket.AF_INET)]
    bound: list[socket.socket] = []
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, address in dict.fromkeys((row[0], str(row[4][0])) for row in found):
        try:
            bound.append(_bound(address, port, family))
        except OSError as failure:
            if bound and failure.errno in _NO_SUCH_ADDRESS:
                continue
            for each in bound:
                each.close()
            raise
        port = bound[0].getsockname()[1]
    return bound


def _bound(host: str, port: int, family: int, *, is_dual: bool = False) -> socket.socket:
    found = socket.create_server(
        (host, port), family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual
    )
    found.setblocking(False)
    return found


class LimitedListener:
    """Accepts connections for an aiohttp server; what is open when it closes is the server's to end."""

    def __init__(
        self,
        server: web.Server,
        sockets: Sequence[socket.socket],
        limits: HttpLimits,
        *,
        tls: ssl.SSLContext | None = None,
        **options: Any,
    ) -> None:
        self.limits = limits
        self._server, self._sockets, self._tls, self._options = server, sockets, tls, options
        self._loop = asyncio.get_running_loop()
        # All that are open, those without a request for longest first.
        self._open: OrderedDict[_Connection, asyncio.Task[None] | None] = OrderedDict()
        self._handle, server.request_handler = server.request_handler, self._timed
        self._accepting = [asyncio.create_task(self._accept(each)) for each in sockets]
        self._said_s = float("-inf")

    @property
    def port(self) -> int:
        return int(self._sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Accept no more, and end what is in a handshake."""
        handshakes = [task for task in self._open.values() if task is not None]
        tasks = [*self._accepting, *handshakes]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in self._sockets:
            each.close()

    def used(self, connection: _Connection) -> None:
        """It is the last one to make room now."""
        if connection in self._open:
            self._open.move_to_end(connection)

    def lost(self, connection: _Connection) -> None:
        self._open.pop(connection, None)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                accepted, _ = await self._loop.sock_accept(listening)
            except OSError:  # gone meanwhile, or no descriptor is left
                await asyncio.sleep(_FULL_S)
                continue
            if len(self._open) >= self.limits.connections and not self._make_room():
                accepted.close()
                continue
            connection = _Connection(self, self._server, loop=self._loop, **self._options)
            self._open[connection] = asyncio.create_task(self._join(accepted, connection))

    def _make_room(self) -> bool:
        idle = next((each for each in self._open if not each.is_busy), None)
        now = self._loop.time()
        if now - self._said_s > _SAID_EVERY_S:
            self._said_s = now
            fields = log_fields(port=self.port, connections=len(self._open))
            _logger.warning("too many connections; idle ones are closed", extra=fields)
        if idle is None:
            return False
        joining = self._open.pop(idle)
        if joining is not None:
            joining.cancel()
        idle.abort()
        return True

    async def _join(self, accepted: socket.socket, connection: _Connection) -> None:
        handshake_s = None if self._tls is None else self.limits.head_s
        try:
            await self._loop.connect_accepted_socket(
                lambda: connection, accepted, ssl=self._tls, ssl_handshake_timeout=handshake_s
            )
        except OSError:  # of TLS, too: it was no client of ours, or it went
            self.lost(connection)
            accepted.close()
        except asyncio.CancelledError:
            self.lost(connection)
            accepted.close()
            raise
        else:
            if connection in self._open:
                self._open[connection] = None

    async def _timed(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        assert isinstance(connection, _Connection), "made above"
        connection.begin(request)
        try:
            return await self._handle(request)
        finally:
            connection.end()


class _Connection(web.RequestHandler):
    """One connection, with its time limits."""

    def __init__(self, listener: LimitedListener, server: web.Server, **options: Any) -> None:
        super().__init__(server, **options)
        self.is_busy = False
        self._listener, self._limits = listener, listener.limits
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._arm(self._limits.head_s, self.abort)

    def data_received(self, data: bytes) -> None:
        if not self.is_busy and self._timer is None:
            self._arm(self._limits.head_s, self.abort)
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._disarm()
        self._listener.lost(self)
        super().connection_lost(exc)

    def begin(self, request: web.BaseRequest) -> None:
        """The head of a request is there."""
        self._disarm()
        self.is_busy = True
        if request.body_exists:

            def end_unless_whole() -> None:
                if not request.content.is_eof():
                    self.abort()

            self._arm(self._limits.body_s, end_unless_whole)

    def end(self) -> None:
        self._disarm()
        self.is_busy = False
        self._listener.used(self)

    def abort(self) -> None:
        """Close it at once, without a word."""
        transport = self.transport
        if transport is not None:
            transport.abort()

    def _arm(self, seconds: float, then: Any) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, then)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
