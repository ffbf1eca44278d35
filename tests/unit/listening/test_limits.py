"""What strangers can take from a listener: some connections and time, and no turn of others."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime

import aiohttp
import pytest
from aiohttp import web

from rolecall.listening import Address, HttpLimits, served, tls_for_server

LIMITS = HttpLimits(connections=20, head_s=1.0, body_s=1.0)
PATIENT = HttpLimits(connections=20, head_s=60.0, body_s=60.0)
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def listening(limits: HttpLimits, *, is_tls: bool) -> AsyncIterator[str]:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.Response(text=str(len(await request.read())))

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b".")
            await asyncio.sleep(0.1)

    app = web.Application()
    app.router.add_route("*", "/", echo)
    app.router.add_get("/endless", endless)
    tls = tls_for_server(datetime.now(UTC)) if is_tls else None
    listens = served(app, Address("127.0.0.1", 0), what="echoes", tls=tls, limits=limits)
    async with listens as port:
        yield f"{'https' if is_tls else 'http'}://127.0.0.1:{port}"


async def silent(stack: AsyncExitStack, url: str, *, shakes_hands: bool = False) -> Streams:
    """A connection on which nothing is said."""
    port, tls = int(url.rpartition(":")[2]), None
    if shakes_hands:
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    stack.push_async_callback(_ended, writer)
    return reader, writer


async def _ended(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def is_closed(reader: asyncio.StreamReader, within_s: float = 10.0) -> bool:
    try:
        async with asyncio.timeout(within_s):
            while await reader.read(65_536):
                pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


async def answers(url: str) -> bool:
    connector = aiohttp.TCPConnector(ssl=False)
    timeout = aiohttp.ClientTimeout(total=5.0)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
        session.post(f"{url}/", data=b"hello") as answer,
    ):
        return await answer.text() == "5"


@pytest.mark.nightly
@pytest.mark.parametrize("is_tls", [False, True])
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        HEAD,
        HEAD + b"half a body",
        # A whole request, and half a head behind it.
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + b"GET /",
    ],
)
async def test_connection_that_says_half_of_something_is_closed(said: bytes, is_tls: bool) -> None:
    async with listening(LIMITS, is_tls=is_tls) as url, AsyncExitStack() as stack:
        reader, writer = await silent(stack, url, shakes_hands=is_tls)
        if said.endswith(b"GET /"):
            whole = said.removesuffix(b"GET /")
            writer.write(whole)
            await reader.readuntil(b"\r\n\r\n")
            said = b"GET /"
        writer.write(said)
        assert await is_closed(reader)
        assert await answers(url)


async def test_body_that_trickles_is_cut_at_its_time_limit() -> None:
    async with listening(LIMITS, is_tls=False) as url, AsyncExitStack() as stack:
        reader, writer = await silent(stack, url)
        writer.write(HEAD)

        async def trickle() -> None:
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.05)

        trickling = asyncio.create_task(trickle())
        assert await is_closed(reader)
        trickling.cancel()


async def test_handshake_that_never_comes_ends_at_its_time_limit() -> None:
    async with listening(LIMITS, is_tls=True) as url, AsyncExitStack() as stack:
        reader, writer = await silent(stack, url)
        writer.write(b"\x16\x03")
        assert await is_closed(reader)


@pytest.mark.slow
@pytest.mark.parametrize("shakes_hands", [False, True])
@pytest.mark.parametrize("is_tls", [False, True])
async def test_silent_connections_do_not_keep_others_out(is_tls: bool, shakes_hands: bool) -> None:
    """However long they may last: the oldest makes room."""
    async with listening(PATIENT, is_tls=is_tls) as url, AsyncExitStack() as stack:
        shakes = is_tls and shakes_hands
        many = [await silent(stack, url, shakes_hands=shakes) for _ in range(60)]
        assert await answers(url)
        assert all([await is_closed(reader) for reader, _ in many[:40]])


async def test_connection_with_a_request_makes_no_room() -> None:
    async with listening(PATIENT, is_tls=False) as url, AsyncExitStack() as stack:
        reader, writer = await silent(stack, url)
        writer.write(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(60):
            await silent(stack, url)
        assert await answers(url)
        for _ in range(3):
            assert await reader.readexactly(5)


async def test_idle_connection_is_kept_for_its_next_request() -> None:
    async with listening(LIMITS, is_tls=False) as url, AsyncExitStack() as stack:
        reader, writer = await silent(stack, url)
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n0")
            await asyncio.sleep(1.5 * LIMITS.head_s)
