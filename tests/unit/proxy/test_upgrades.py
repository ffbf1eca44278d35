"""Exec, attach and port-forward: after a 101 the proxy is a wire."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import aiohttp
import pytest

from rolecall.proxy import upgrades
from tests.fixtures.eventually import eventually_async
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, tls_of_a_server

EXEC = "/api/v1/namespaces/prod/pods/p/exec?command=ls"
# Kernels buffer some of it: of two connections, both ways.
MUCH_BYTES, MOST_BYTES, QUIET_S = 64 << 20, 8 << 20, 0.5


@pytest.fixture(params=[False, True], ids=["plain", "TLS"])
async def play(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Play]:
    tls = tls_of_a_server(tmp_path) if request.param else None
    async with opened_play(tmp_path, tls=tls) as opened:
        yield opened


async def echo(request: Received) -> None:
    """Switch protocols, say hello in the same packet, then say everything twice."""
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {request.headers['upgrade']}\r\n"
    head += "Connection: Upgrade\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\nhello"
    request.writer.write(head.encode())
    while piece := await request.reader.read(65536):
        request.writer.write(piece + piece)
        await request.writer.drain()
    request.writer.close()


async def raw(
    play: Play, method: str, upgrade: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for an upgrade, as a client does that is none of Python's."""
    reader, writer = await asyncio.open_connection("127.0.0.1", play.url.port)
    authorization = aiohttp.encode_basic_auth(play.url.user or "", play.url.password or "")
    head = f"{method} {EXEC} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
    head += f"Upgrade: {upgrade}\r\nAuthorization: {authorization}\r\n"
    head += "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n"
    writer.write(head.encode())
    return reader, writer


@pytest.mark.parametrize(("method", "upgrade"), [("POST", "SPDY/3.1"), ("GET", "websocket")])
async def test_bytes_pass_both_ways(play: Play, method: str, upgrade: str) -> None:
    play.upstream.say = echo
    reader, writer = await raw(play, method, upgrade)
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    assert head.startswith("HTTP/1.1 101 ")
    assert f"upgrade: {upgrade}".lower() in head.lower()
    assert "v4.channel.k8s.io" in head
    assert await reader.readexactly(5) == b"hello"
    for word in (b"\x80\x03\x00\x01", b"GET / HTTP/1.1\r\n\r\n"):
        writer.write(word)
        assert await reader.readexactly(2 * len(word)) == word + word
    assert play.upstream.received[-1].headers["authorization"] == "Bearer engine-token"
    writer.close()
    await writer.wait_closed()


async def test_much_passes_both_ways_at_once(play: Play) -> None:
    play.upstream.say = echo
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    await reader.readuntil(b"hello")
    total = 8 * 1024 * 1024

    async def send() -> None:
        for _ in range(total // 65536):
            writer.write(b"x" * 65536)
            await writer.drain()

    sending = asyncio.create_task(send())
    read = 0
    while read < 2 * total:
        read += len(await reader.read(1 << 20))
    await sending
    writer.close()
    await writer.wait_closed()


async def test_side_that_does_not_read_stops_the_other_without_filling_memory(play: Play) -> None:
    """64 MB are on their way to a side that reads nothing; what the proxy keeps of them is measured."""
    go_on, read = asyncio.Event(), 0

    async def read_later(request: Received) -> None:
        nonlocal read
        request.writer.write(b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
        await go_on.wait()
        while piece := await request.reader.read(1 << 20):
            read += len(piece)
        request.writer.close()

    play.upstream.say = read_later
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    await reader.readuntil(b"hello")
    piece, sent = b"x" * 65536, 0

    async def send() -> None:
        nonlocal sent
        while sent < MUCH_BYTES:
            writer.write(piece)
            await writer.drain()
            sent += len(piece)

    async def is_stopped() -> bool:
        before = sent
        await asyncio.sleep(QUIET_S)
        return sent == before

    tracemalloc.start()
    try:
        sending = asyncio.create_task(send())
        await eventually_async(is_stopped)
        assert 0 < sent < MUCH_BYTES
        go_on.set()
        await sending
        await eventually_async(lambda: read, lambda count: count == MUCH_BYTES)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        go_on.set()
        writer.close()
    assert peak < MOST_BYTES


async def test_end_of_the_far_side_is_the_end(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        request.writer.write(b"last words")
        request.writer.close()

    play.upstream.say = say
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    assert (await reader.read()).endswith(b"last words")
    writer.close()
    await writer.wait_closed()


async def test_end_of_the_near_side_is_the_end(play: Play) -> None:
    ended = asyncio.Event()

    async def say(request: Received) -> None:
        await echo(request)
        ended.set()

    play.upstream.say = say
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    await reader.readuntil(b"hello")
    writer.close()
    await writer.wait_closed()
    await asyncio.wait_for(ended.wait(), 30)


async def test_refused_upgrade_is_an_ordinary_answer(play: Play) -> None:
    play.upstream.say = lambda request: answer(request, 403, {"kind": "Status", "code": 403})
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")
    writer.close()
    await writer.wait_closed()


class ClosedTwice(asyncio.Transport):
    """As Python's transport over TLS: the second close takes away what all else needs."""

    def __init__(self, connection: asyncio.Transport) -> None:
        super().__init__()
        self._connection: asyncio.Transport | None = connection
        self._closings = 0

    def close(self) -> None:
        self._closings += 1
        if self._closings > 1:
            self._connection = None

    def is_closing(self) -> bool:
        return self._closings > 0

    def __getattribute__(self, name: str) -> Any:
        if name in {"abort", "pause_reading", "resume_reading", "set_protocol", "write"}:
            return getattr(self._connection, name)
        return super().__getattribute__(name)


async def test_exec_that_is_cancelled_after_its_connection_was_closed_is_no_attribute_error() -> (
    None
):
    near, wire = Mock(asyncio.Transport), Mock(asyncio.Transport)
    near.is_closing.return_value = False
    far = ClosedTwice(wire)
    connection = Mock(transport=far)
    response = Mock(connection=connection, headers={}, reason="")
    joined = asyncio.create_task(upgrades._splice(Mock(request=Mock(transport=near)), response))
    await asyncio.sleep(0)
    pipe_to_far = near.set_protocol.call_args.args[0]

    far.close()  # the API server's end
    far.close()  # the HTTP client's, as the engine stops
    pipe_to_far.pause_writing()
    pipe_to_far.connection_lost(None)
    joined.cancel()
    with pytest.raises(asyncio.CancelledError):
        await joined
    assert near.abort.called


async def test_end_of_the_run_cuts_the_wire(tmp_path: Path) -> None:
    async with opened_play(tmp_path) as play:
        play.upstream.say = echo
        reader, writer = await raw(play, "POST", "SPDY/3.1")
        await reader.readuntil(b"hello")
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()


@pytest.mark.parametrize(("said", "reported"), [("Go on", "Go on"), ("", "Switching Protocols")])
async def test_wire_begins_with_the_head_of_the_api_server(
    tmp_path: Path, said: str, reported: str
) -> None:
    async def say(request: Received) -> None:
        head = f"HTTP/1.1 101 {said}\r\nConnection: Upgrade\r\nUpgrade: x\r\nX-Y: z\r\n\r\n"
        request.writer.write(head.encode())
        request.writer.close()

    async with opened_play(tmp_path) as play:
        play.upstream.say = say
        reader, writer = await raw(play, "POST", "SPDY/3.1")
        first, *headers = (await reader.read()).decode().strip().split("\r\n")
        writer.close()
        await writer.wait_closed()
    assert first == f"HTTP/1.1 101 {reported}"
    assert sorted(headers) == ["Connection: Upgrade", "Upgrade: x", "X-Y: z"]


async def test_slow_side_slows_the_other_and_the_end_of_one_is_the_end_of_both() -> None:
    target = Mock(asyncio.Transport)
    target.is_closing.return_value = False
    lost: list[object] = []
    pipe = upgrades._Pipe(target, lost.append)
    pipe.data_received(b"x")
    target.write.assert_called_once_with(b"x")
    pipe.pause_writing()
    target.pause_reading.assert_called_once_with()
    target.resume_reading.assert_not_called()
    pipe.resume_writing()
    target.resume_reading.assert_called_once_with()
    pipe.connection_lost(None)
    target.close.assert_called_once_with()
    assert lost == [None]


async def test_side_that_is_closing_is_given_nothing_more() -> None:
    target = Mock(asyncio.Transport)
    target.is_closing.return_value = True
    lost: list[object] = []
    pipe = upgrades._Pipe(target, lost.append)
    pipe.data_received(b"x")
    pipe.pause_writing()
    pipe.resume_writing()
    pipe.connection_lost(None)
    assert [call[0] for call in target.method_calls] == ["is_closing"] * 4
    assert lost == [None]
