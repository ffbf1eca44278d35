"""Knows the sockets of a session until they are closed, so that a loop can end after the last one.

A TLS connection that is dropped says goodbye to its server first; if the loop ends meanwhile, the
socket is left behind. aiohttp forgets such connections at once, so we remember them.
"""

from __future__ import annotations

import asyncio
import socket
import weakref
from asyncio.sslproto import SSLProtocol
from typing import Any

_PATIENCE_S = 1.0
_LOOK_S = 0.005
# asyncio keeps a buffer of 256 KB for each TLS connection, and an engine has one for each stream: with
# 200 namespaces that was 50 MB. A record of TLS has 16 KB at most.
SSLProtocol.max_size = 32 * 1024


class Sockets:
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
