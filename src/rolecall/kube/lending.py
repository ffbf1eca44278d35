"""Lends a session to a library that speaks to the API server by itself, and listens in.

Promise: every request of the borrower goes out under our credentials as they are then, and the
lender is told of each answer: path, whether it is a watch, code. Who borrows wants to know that
something happens, and never what is. So watches are answered with metadata only: a custom resource
of a megabyte is not parsed each time its status is written. And lists come empty, but for the
version to watch from: the lender lists by itself, in small pieces, while a page decoded in one go,
and a task for each object in it, would hold the interpreter for everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp

from rolecall.kube.credentials import Credentials
from rolecall.kube.sockets import Sockets

# No object has this name, since no name has capitals; the answer is an empty list all the same.
_NOTHING = "metadata.name=NONE"
_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request of the borrower that was answered."""

    path: str
    is_watch: bool
    code: int


@dataclass(frozen=True, slots=True)
class Loan:
    """A session, and how to take it back."""

    session: aiohttp.ClientSession
    sockets: Sockets

    async def close(self) -> None:
        """Break off what is in flight and close; a loop that ends right after is no trouble."""
        await self.session.close()
        await self.sockets.wait_until_closed()


async def lend_session(
    credentials: Credentials, on_exchange: Callable[[Exchange], None], *, most_connections: int
) -> Loan:
    """Open a session for the running loop; each of its connections costs 256 KB of buffer."""

    async def identify(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        request.headers.update((await credentials.current()).headers)
        query = request.url.query
        if "watch" in query:
            request.headers["Accept"] = _METADATA
        elif "limit" in query:  # a list, and not discovery
            request.url = request.url.update_query(fieldSelector=_NOTHING)
        return await handler(request)

    async def tell(
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        answered: aiohttp.TraceRequestEndParams,
    ) -> None:
        is_watch = "watch" in answered.url.query
        on_exchange(Exchange(answered.url.path, is_watch, answered.response.status))

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(tell)
    access = await credentials.current()
    tls = access.tls if access.tls is not None else True
    sockets = Sockets()
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=most_connections, keepalive_timeout=5, ssl=tls, socket_factory=sockets.make
        ),
        proxy=access.proxy,
        middlewares=(identify,),
        trace_configs=[trace],
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )
    return Loan(session, sockets)
