"""Bytes that a server behind the proxy might read otherwise are refused, and end the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from rolecall.proxy import forward
from tests.fixtures.eventually import eventually_async
from tests.unit.proxy.upstream import Play, opened_play

MAPS = "/api/v1/namespaces/prod/configmaps"
NEXT = "GET /version HTTP/1.1\r\nHost: x\r\n@LOGIN\r\n\r\n"


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path, inject_owner=False) as opened:
        yield opened


async def _said(play: Play, *pieces: str, until: bytes = b"") -> str:
    """What is answered, to the end of the connection or to these words."""
    assert play.url.user is not None
    assert play.url.password is not None
    login = aiohttp.encode_basic_auth(play.url.user, play.url.password)
    reader, writer = await asyncio.open_connection("127.0.0.1", play.url.port)
    credentials = play.proxy._run_credentials._by_digest.values()

    async def is_served() -> bool:
        return any(one.open_requests for one in credentials)

    for piece in pieces:
        writer.write(piece.replace("@LOGIN", f"Authorization: {login}").encode())
        if len(pieces) > 1:  # the rest comes while the proxy is at work on what came first
            await eventually_async(is_served)
    answer = await asyncio.wait_for(reader.readuntil(until) if until else reader.read(), 30)
    writer.close()
    return answer.decode()


@pytest.mark.parametrize(
    ("line", "coding", "code"),
    [
        (f"CONNECT {MAPS}/x HTTP/1.1", "", 405),
        (f"TRACE {MAPS}/x HTTP/1.1", "", 405),
        (f"PUT {MAPS}/x HTTP/2.0", "", 400),
        (f"PUT {MAPS}/x HTTP/1.1", "gzip, chunked", 400),
        (f"PUT {MAPS}/x HTTP/1.1", "identity, chunked", 400),
        (f"PUT {MAPS}/x HTTP/1.0", "chunked", 400),
    ],
)
async def test_what_others_may_read_otherwise_is_refused_and_nothing_behind_it_is_read(
    play: Play, line: str, coding: str, code: int
) -> None:
    head = f"{line}\r\nHost: x\r\n@LOGIN\r\n"
    head += f"Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n" if coding else "\r\n"
    answer = await _said(play, head + NEXT)
    assert f" {code} " in answer.partition("\r\n")[0]
    assert answer.count("Content-Length:") == 1
    assert play.upstream.asked == []


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("rest", ["", "5\r\nhello\r\nZZ\r\n", "0\r\nContent-Length: 5\r\n\r\n"])
async def test_body_that_stalls_or_breaks_in_the_middle_is_answered_in_time(
    play: Play, monkeypatch: pytest.MonkeyPatch, method: str, rest: str
) -> None:
    monkeypatch.setattr(forward, "_BODY_SILENCE_S", 0.2)
    head = f"{method} {MAPS}/x HTTP/1.1\r\nHost: x\r\n@LOGIN\r\nConnection: close\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    # Not to the end: the server waits ten seconds for the rest of a body before it closes.
    answer = await _said(play, head, rest, until=b"nothing more came of the request's body")
    assert answer.startswith("HTTP/1.1 408 ")
