"""Bodies that anybody may send take a bounded amount of memory, and no review from the API server."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from rolecall.extensions.versions.webhooks.bodies import MEGABYTE, BodyBudget
from rolecall.listening import Address, served
from tests.unit.extensions.versions.test_routes import WEBHOOK, admission, app, conversion, url

__all__ = ["url"]


@pytest.fixture(autouse=True)
async def executor_that_ends() -> AsyncIterator[None]:
    """Large lists are converted in a thread."""
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def counted() -> list[tuple[str, bool, int]]:
    return []


async def post(url: str, body: Any) -> tuple[int, str]:
    data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
    async with aiohttp.ClientSession() as session, session.post(url, data=data) as answer:
        return answer.status, await answer.text()


@asynccontextmanager
async def unfinished(
    url: str, path: str, sent: int, length: int
) -> AsyncIterator[asyncio.Task[bytes]]:
    """A request whose body stops short; what it is answered."""
    port = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
    writer.write(head.encode())

    async def send() -> bytes:
        piece = b"x" * 65_536
        try:
            for _ in range(sent // len(piece)):
                writer.write(piece)
                await writer.drain()
            return await reader.readuntil(b"\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError):
            return b""

    sending = asyncio.create_task(send())
    try:
        yield sending
    finally:
        sending.cancel()
        writer.transport.abort()
        with suppress(OSError, asyncio.CancelledError):
            await sending
        with suppress(OSError):
            await writer.wait_closed()


async def test_admission_takes_eight_megabytes_and_no_more(url: str) -> None:
    review = admission()
    review["request"]["object"] = {"text": "x" * (7 * MEGABYTE)}
    assert (await post(f"{url}{WEBHOOK.path}", review))[0] == 200
    review["request"]["object"] = {"text": "x" * (9 * MEGABYTE)}
    assert (await post(f"{url}{WEBHOOK.path}", review))[0] == 413


@pytest.mark.parametrize("length", [9 * MEGABYTE, 10**15])
async def test_body_that_says_it_is_too_long_is_not_read(url: str, length: int) -> None:
    async with unfinished(url, WEBHOOK.path, 0, length) as answer:
        assert b" 413 " in (await asyncio.wait_for(answer, 10)).partition(b"\r\n")[0]


async def test_many_bodies_that_never_end_cost_one_budget(url: str) -> None:
    """Six connections with 59 of 60 MB each took 365 MB."""
    async with AsyncExitStack() as stack:
        attacks = [
            await stack.enter_async_context(
                unfinished(url, "/convert", 59 * MEGABYTE, 60 * MEGABYTE)
            )
            for _ in range(6)
        ]
        while sum(attack.done() for attack in attacks) < 5:
            await asyncio.wait(
                [each for each in attacks if not each.done()],
                return_when=asyncio.FIRST_COMPLETED,
                timeout=30,
            )
        assert (await post(f"{url}/convert", conversion(app("a"))))[0] == 200
        large = conversion(app("b"), {**app("c"), "spec": {"text": "x" * (8 * MEGABYTE)}})
        assert (await post(f"{url}/convert", large))[0] == 200


async def test_largest_unfinished_body_makes_room_and_whole_ones_stay() -> None:
    budget, entered, go_on = BodyBudget(1000), asyncio.Event(), asyncio.Event()

    async def read(request: web.Request) -> web.Response:
        async with budget.read(request, 900) as data:
            if data.startswith(b"slow"):
                entered.set()
                await go_on.wait()
            return web.Response(text=str(len(data)))

    application = web.Application()
    application.router.add_post("/", read)
    async with served(application, Address("127.0.0.1", 0), what="bodies") as port:
        here = f"http://127.0.0.1:{port}"
        slow = asyncio.create_task(post(here, b"slow" + b"x" * 496))
        await entered.wait()
        assert (await post(here, b"x" * 600))[0] == 503
        assert (await post(here, b"x" * 500)) == (200, "500")
        go_on.set()
        assert await slow == (200, "500")
        assert (await post(here, b"x" * 600)) == (200, "600")
        assert (await post(here, b"x" * 901))[0] == 413
        assert json.loads((await post(here, b"x"))[1]) == 1
