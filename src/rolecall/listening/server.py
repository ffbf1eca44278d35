"""One aiohttp server at one address, for as long as a context lasts."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator

from aiohttp import web

from rolecall.listening.address import Address
from rolecall.listening.limits import HttpLimits, LimitedListener, bound_sockets
from rolecall.listening.port_holder import port_error

# Longer than API servers and scrapers keep a connection that they do not use.
_KEEPALIVE_S = 120.0


@contextlib.asynccontextmanager
async def served(  # noqa: PLR0913 - each is a choice, given by name
    app: web.Application,
    address: Address,
    *,
    what: str,
    flag: str = "",
    tls: ssl.SSLContext | None = None,
    patience_s: float = 1.0,
    limits: HttpLimits | None = None,
) -> AsyncIterator[int]:
    """Serve while the context lasts, and what was asked before for so long; yields the port.

    `flag` is the one that chooses the port, for the error.
    """
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=patience_s,
        handler_cancellation=True,  # when the client disconnects, for instance a play
    )
    await runner.setup()
    try:
        try:
            sockets = bound_sockets(address.host, address.port)
        except OSError as error:
            raise port_error(what, address.port, flag, error) from error
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
