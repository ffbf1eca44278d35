"""One aiohttp server at one address, for as long as a context lasts."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator

from aiohttp import web

from rolecall.errors import InputError
from rolecall.listening.address import Address
from rolecall.listening.limits import HttpLimits, LimitedListener, bound_sockets

# Longer than API servers and scrapers keep a connection that they do not use.
_KEEPALIVE_S = 120.0


@contextlib.asynccontextmanager
async def served(
    app: web.Application,
    address: Address,
    *,
    what: str,
    tls: ssl.SSLContext | None = None,
    patience_s: float = 1.0,
    limits: HttpLimits | None = None,
) -> AsyncIterator[int]:
    """Serve while the context lasts, and what was asked before for so long; yields the port."""
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=patience_s,
        handler_cancellation=True,  # of what nobody waits for any more, a play for one
    )
    await runner.setup()
    try:
        try:
            sockets = bound_sockets(address.host, address.port)
        except OSError as error:
            raise InputError(
                f"could not serve {what} on port {address.port}: {error.strerror or error}",
                hint="`rolecall run --help` lists the flags that choose ports",
            ) from error
        assert runner.server is not None, "set up above"
        own = LimitedListener(
            runner.server,
            sockets,
            limits or HttpLimits(),
            tls=tls,
            access_log=None,
            keepalive_timeout=_KEEPALIVE_S,
        )
        try:
            yield own.port
        finally:
            await own.close()
    finally:
        await runner.cleanup()
