"""What the page keeps of an answer that was sent."""

from __future__ import annotations

import gc

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from rolecall.extensions.console.page.answers import HtmlAnswer


async def test_open_connection_keeps_no_text_of_what_it_answered() -> None:
    """aiohttp keeps the last response of each connection: with 50 readers, that was 13 MB."""

    async def handler(_: web.Request) -> web.Response:
        return HtmlAnswer("<p>" + "x" * 100_000)

    app = web.Application()
    app.router.add_get("/", handler)
    async with TestServer(app) as server, aiohttp.ClientSession(server.make_url("/")) as session:
        async with session.get("/") as answer:
            assert await answer.text() == "<p>" + "x" * 100_000
            assert answer.content_type == "text/html"
        kept = [each for each in gc.get_objects() if isinstance(each, HtmlAnswer)]
        assert [each.body for each in kept] == [None]
