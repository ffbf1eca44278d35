"""The forwarder of `rolecall page`: who is let in, and what is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from rolecall.errors import ClusterError
from rolecall.extensions.console.commands.page_forwarder import PageForwarder


@dataclass
class There:
    """A page that records what it was asked."""

    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        return app

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.text())
        if request.path == "/away":
            return web.Response(status=303, headers={"Location": "/here"})
        return web.Response(
            text=f"at {request.path_qs}", headers={"Content-Security-Policy": "strict"}
        )


@asynccontextmanager
async def forwarded(
    there: There, token: str = "mine"
) -> AsyncIterator[tuple[PageForwarder, str, aiohttp.ClientSession]]:
    async def authorization() -> str:
        if not token:
            raise ClusterError("the plugin failed")
        return f"Bearer {token}"

    async with TestServer(there.app()) as server:
        forwarder = PageForwarder(str(server.make_url("")).rstrip("/"), authorization)
        jar = aiohttp.CookieJar(unsafe=True)
        async with forwarder.serving() as port, aiohttp.ClientSession(cookie_jar=jar) as browser:
            yield forwarder, f"http://127.0.0.1:{port}", browser


async def test_printed_address_lets_one_browser_in_and_adds_the_token() -> None:
    there = There()
    async with forwarded(there) as (forwarder, here, browser):
        async with browser.get(f"{here}/crs") as refused:
            assert refused.status == 403
        assert there.headers == []
        entrance = forwarder.entrance
        async with browser.get(f"{here}{entrance}") as entered:
            assert (entered.status, await entered.text()) == (200, "at /")
            assert entered.headers["Content-Security-Policy"] == "strict"
        assert there.headers[-1]["Authorization"] == "Bearer mine"
        assert there.headers[-1]["Host"] == here.removeprefix("http://")
        assert "Cookie" not in there.headers[-1]
        async with aiohttp.ClientSession() as second, second.get(f"{here}{entrance}") as late:
            assert late.status == 403


async def test_wrong_secret_does_not_use_up_the_address() -> None:
    async with forwarded(There()) as (forwarder, here, browser):
        async with browser.get(f"{here}/enter?secret=guessed") as refused:
            assert refused.status == 403
        async with browser.get(f"{here}{forwarder.entrance}") as entered:
            assert entered.status == 200


async def test_another_name_for_this_machine_is_refused() -> None:
    """A foreign page may have its name lead here."""
    there = There()
    async with forwarded(there) as (forwarder, here, browser):
        await (await browser.get(f"{here}{forwarder.entrance}")).release()
        seen = len(there.headers)
        async with browser.get(here, headers={"Host": "evil.example"}) as refused:
            assert refused.status == 403
        assert len(there.headers) == seen


async def test_forms_redirects_and_queries_are_passed_on_as_they_are() -> None:
    there = There()
    async with forwarded(there) as (forwarder, here, browser):
        await (await browser.get(f"{here}{forwarder.entrance}")).release()
        headers = {"Origin": here, "Sec-Fetch-Site": "same-origin", "Authorization": "Bearer other"}
        async with browser.post(f"{here}/x", data={"a": "b c"}, headers=headers) as answer:
            assert answer.status == 200
        assert there.bodies[-1] == "a=b+c"
        assert there.headers[-1]["Origin"] == here
        assert there.headers[-1]["Authorization"] == "Bearer mine"
        async with browser.get(f"{here}/away", allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/here")
        async with browser.get(f"{here}/crs?name=a%2Fb") as answer:
            assert await answer.text() == "at /crs?name=a/b"


async def test_failure_is_reported_without_a_traceback() -> None:
    async with forwarded(There(), token="") as (forwarder, here, browser):
        answer = await browser.get(f"{here}{forwarder.entrance}")
        assert answer.status == 502
        assert "the plugin failed" in await answer.text()


@pytest.mark.parametrize("path", ["/", "/enter", "/static/x/page.js"])
async def test_request_without_a_cookie_is_rejected(path: str) -> None:
    there = There()
    async with forwarded(there) as (_, here, browser), browser.get(f"{here}{path}") as answer:
        assert answer.status == 403
    assert there.headers == []


@pytest.mark.parametrize("target", ["http://evil.example/", "@evil.example/", "//evil.example/x"])
async def test_token_is_sent_to_the_page_alone_whatever_is_asked_for(target: str) -> None:
    there = There()
    async with forwarded(there) as (forwarder, here, browser):
        await (await browser.get(f"{here}{forwarder.entrance}")).release()
        (kept,) = browser.cookie_jar.filter_cookies(URL(here)).values()
        cookie = f"{kept.key}={kept.value}"
        host = here.removeprefix("http://")
        head = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {cookie}"
        answer = await sent(host, head.encode())
        is_refused = answer.split()[1] in ("400", "403")
        assert is_refused or "Content-Security-Policy: strict" in answer  # of the page itself


@pytest.mark.parametrize(
    "head",
    [b"GET / HTTP/1.1\r\nCookie: rolecall_forwarder=\xff", b"GET /enter?secret=%ff HTTP/1.1"],
)
async def test_bytes_that_are_not_text_are_rejected(head: bytes) -> None:
    async with forwarded(There()) as (_, here, _browser):
        host = here.removeprefix("http://")
        answer = await sent(host, head + f"\r\nHost: {host}\r\nConnection: close".encode())
        assert answer.split()[1] == "403"


async def sent(host: str, head: bytes) -> str:
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(head + b"\r\n\r\n")
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize(
    "target",
    [
        "@127.0.0.1:{other}/",
        "http://127.0.0.1:{other}/",
        "//127.0.0.1:{other}/",
        "/\\127.0.0.1:{other}/",
        "/@127.0.0.1:{other}/",
        ":{other}/",
    ],
)
async def test_no_request_reaches_another_port_than_that_of_the_page(target: str) -> None:
    there, elsewhere = There(), There()
    async with TestServer(elsewhere.app()) as other, forwarded(there) as (forwarder, here, _):
        port = int(here.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        asked = target.format(other=other.port)
        cookie = f"{forwarder.cookie_name}={forwarder._cookie}"
        head = f"GET {asked} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode())
        await reader.read()
        writer.close()
        await writer.wait_closed()
        assert elsewhere.headers == []


async def test_cookie_is_named_after_its_port() -> None:
    """A browser sends the cookies of an address to each of its ports: two tunnels must not mix."""
    async with forwarded(There()) as (first, here, _), forwarded(There()) as (second, *_):
        assert first.cookie_name == f"rolecall_forwarder_{here.rpartition(':')[2]}"
        assert first.cookie_name != second.cookie_name
