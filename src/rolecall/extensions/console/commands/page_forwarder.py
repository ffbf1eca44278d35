"""Forwards the page of a remote operator to this machine, for the user who got its address.

A browser cannot log in with a kubeconfig, so the forwarder adds the bearer token to each request.
Access to this listener is therefore worth as much as the token: it listens on the loopback address
only, its address contains a secret that works once and is exchanged for a cookie, and it accepts only
its own host name, so that a page of another site cannot read it. Rejected: a bare port-forward, where
users would paste tokens into a form.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from yarl import URL

from rolecall.errors import InputError, RolecallError

_COOKIE = "rolecall_forwarder"
_ENTRANCE = "/enter"
# Of a request, what the page asks for is passed on; of an answer, all that is not between two hops.
_PASSED = frozenset(
    {"Accept", "Content-Type", "Last-Event-ID", "Origin", "Sec-Fetch-Site"}
    | {"X-Form-Token", "X-Fragment", "User-Agent"}
)
_OF_ONE_HOP = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "set-cookie"}
    | {"transfer-encoding", "date", "server"}
)
_LIMITS = aiohttp.ClientTimeout(total=None, sock_connect=20.0)

Authorization = Callable[[], Awaitable[str]]


class PageForwarder:
    """`there`: where the page answers, such as `https://127.0.0.1:41000`."""

    def __init__(self, there: str, authorization: Authorization) -> None:
        self._there, self._authorization = there, authorization
        self._entrance = secrets.token_urlsafe(24)
        self._cookie = secrets.token_urlsafe(32)
        self.cookie_name = _COOKIE

    @property
    def entrance(self) -> str:
        """The path that logs a browser in, once."""
        return f"{_ENTRANCE}?secret={self._entrance}"

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[int]:
        """Listen on the loopback address; the port."""
        connector = aiohttp.TCPConnector(ssl=False)  # the way there is the API server's
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(
            connector=connector, cookie_jar=jar, timeout=_LIMITS, auto_decompress=True
        ) as session:
            app = web.Application(client_max_size=64 * 1024)

            async def answer(request: web.Request) -> web.StreamResponse:
                return await self._answer(request, session)

            app.router.add_route("*", "/{path:.*}", answer)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
            await runner.setup()
            try:
                try:
                    await web.TCPSite(runner, "127.0.0.1", port).start()
                except OSError as failure:
                    why = os.strerror(failure.errno or 0)
                    raise InputError(f"cannot listen on 127.0.0.1:{port}: {why}") from None
                taken = int(runner.addresses[0][1])
                # A browser sends a cookie to each port of its address.
                self.cookie_name = f"{_COOKIE}_{taken}"
                yield taken
            finally:
                await runner.cleanup()

    async def _answer(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        sockname = request.get_extra_info("sockname")
        if request.host not in (f"127.0.0.1:{sockname[1]}", f"localhost:{sockname[1]}"):
            return _refusal("this address is of another name")
        if request.path == _ENTRANCE:
            return self._enter(request)
        sent = request.cookies.get(self.cookie_name, "")
        if not hmac.compare_digest(sent.encode(errors="replace"), self._cookie.encode()):
            return _refusal("open the address that `rolecall page` printed; it serves once")
        if not request.raw_path.startswith("/"):
            return _refusal("only paths are passed on")  # `@other` would be another host
        try:
            return await self._passed_on(request, session)
        except (aiohttp.ClientError, TimeoutError, OSError, RolecallError) as failure:
            return web.Response(status=502, text=f"the page does not answer: {failure}\n")

    def _enter(self, request: web.Request) -> web.Response:
        sent = request.query.get("secret", "").encode(errors="replace")
        if not self._entrance or not hmac.compare_digest(sent, self._entrance.encode()):
            return _refusal("this address was used already; `rolecall page` prints another one")
        self._entrance = ""
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(
            self.cookie_name, self._cookie, httponly=True, samesite="Strict", path="/"
        )
        return answer

    async def _passed_on(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        headers |= {"Host": request.host, "Authorization": await self._authorization()}
        body = await request.read() if request.can_read_body else None
        url = URL(f"{self._there}{request.raw_path}", encoded=True)
        async with session.request(
            request.method, url, headers=headers, data=body, allow_redirects=False
        ) as answer:
            kept = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in _OF_ONE_HOP
            }
            passed = web.StreamResponse(status=answer.status, headers=kept)
            await passed.prepare(request)
            async for chunk in answer.content.iter_any():
                await passed.write(chunk)
            await passed.write_eof()
            return passed


def _refusal(why: str) -> web.Response:
    return web.Response(status=403, text=f"{why}\n", headers={"Cache-Control": "no-store"})
