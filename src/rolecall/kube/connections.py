"""The HTTP session of a client, or of several that may share connections.

A TLS connection that is dropped says goodbye to its server first; if the loop ends meanwhile, the
socket is left behind. aiohttp forgets such connections at once, so we remember their sockets.
"""

from __future__ import annotations

import asyncio
import socket
import weakref
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Mapping
from typing import Any

from rolecall.kube.later import aiohttp

# Asked before each attempt, and once more when there is a connection, right before the first byte is
# sent: to connect may take seconds. Given method, target, headers and body; raises what stops it.
Fence = Callable[[str, str, Mapping[str, str], object], None]

_PATIENCE_S = 1.0
_LOOK_S = 0.005
# aiohttp would add these on its own; a proxy must pass what its client said and no more.
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
# asyncio keeps a buffer of 256 KB for each TLS connection, and an engine has one for each stream: with
# 200 namespaces that was 50 MB. A record of TLS has 16 KB at most.
SSLProtocol.max_size = 32 * 1024


class Connections:
    """Opened when it is first used. Who shares it says who he is in each request.

    `limit`: of connections at once. By default there is none, since watches and followed logs hold a
    connection each, and calls would starve.
    """

    def __init__(self, fence: Fence | None = None, *, limit: int = 0) -> None:
        self._fence, self._limit = fence, limit
        self._session: aiohttp.ClientSession | None = None
        self._sockets = _Sockets()

    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._limit, keepalive_timeout=30, socket_factory=self._sockets.make
                ),
                trace_configs=[] if self._fence is None else [_asking(self._fence)],
                auto_decompress=False,
                skip_auto_headers=_NOT_ADDED,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,  # would let a .netrc replace our Authorization
            )
        return self._session

    async def close(self) -> None:
        """Return when all sockets are closed, or after a second."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await self._sockets.wait_until_closed()


def _asking(fence: Fence) -> aiohttp.TraceConfig:
    """Asks when all is ready to be sent, the headers first; what it raises closes the connection."""

    async def ask(_session: object, context: Any, _sent: object) -> None:
        fence(*context.trace_request_ctx)

    config = aiohttp.TraceConfig()
    config.on_request_headers_sent.append(ask)
    return config


class _Sockets:
    """Makes a connector's sockets."""

    def __init__(self) -> None:
        self._open: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def make(self, address: tuple[Any, ...]) -> socket.socket:
        """A socket for one row of `getaddrinfo`."""
        family, kind, protocol, _, _ = address
        made = socket.socket(family=family, type=kind, proto=protocol)
        made.setblocking(False)
        self._open.add(made)
        return made

    async def wait_until_closed(self) -> None:
        """Return when the last goodbye was said, or after a second."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE_S
        while self._is_any_open() and loop.time() < deadline:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(_LOOK_S)

    def _is_any_open(self) -> bool:
        return any(each.fileno() != -1 for each in self._open)
