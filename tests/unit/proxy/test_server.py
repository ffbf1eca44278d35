"""The proxy opens one port on both of localhost's addresses, and lets go of everything."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from rolecall.errors import InputError
from tests.unit.proxy.upstream import Play, Received, opened_play


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


async def test_both_addresses_of_localhost_answer(play: Play) -> None:
    for host in ("127.0.0.1", "::1"):
        try:
            _, writer = await asyncio.open_connection(host, play.proxy.port)
        except OSError:
            assert host == "::1", "a machine may be without IPv6"
            continue
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_port_that_is_taken_is_told(tmp_path: Path, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as taken:
        taken.bind((host, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as failure:
            async with opened_play(tmp_path, port=port):
                pass
    assert f"port `{port}`" in str(failure.value)
    assert "--proxy-port" in failure.value.hint


async def test_stopping_cuts_what_is_open(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await request.reader.read()

    play.upstream.say = say
    async with play.request("GET", "/api/v1/pods?watch=true") as response:
        await asyncio.wait_for(play.proxy.stop(), 30)
        with pytest.raises(aiohttp.ClientError):
            await response.read()


async def test_garbage_is_answered_and_forgotten(play: Play) -> None:
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", play.proxy.port)
        writer.write(garbage)
        assert b"400" in (await reader.read()).splitlines()[0]
        writer.close()
        await writer.wait_closed()
    assert play.upstream.asked == []


async def test_long_selectors_pass(play: Play) -> None:
    selector = ",".join(f"label-{number}" for number in range(2000))
    async with play.request("GET", f"/api/v1/pods?labelSelector={selector}"):
        pass
    assert play.upstream.asked[-1].endswith("label-1999")
