"""A relay, between a client and an echo, on the loopback address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing

import pytest

from rolecall_dev.localcluster import Relay
from rolecall_dev.localcluster.system import free_ports, is_free

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def echo() -> AsyncIterator[int]:
    """The port of a server that sends back what it gets."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1000):
            writer.write(piece)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield int(server.sockets[0].getsockname()[1])


@pytest.fixture
def relay(echo: int) -> Iterator[Relay]:
    relay = Relay(free_ports(1)[0], echo)
    relay.start()
    with closing(relay):
        yield relay


@pytest.fixture
async def client(relay: Relay) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    yield reader, writer
    writer.transport.abort()


async def say(client: Connection, words: bytes) -> bytes:
    reader, writer = client
    writer.write(words)
    return await asyncio.wait_for(reader.readexactly(len(words)), 30)


async def test_bytes_pass_unchanged(client: Connection) -> None:
    words = bytes(range(256)) * 1000
    assert await say(client, words) == words


async def test_end_of_one_direction_is_passed_on(client: Connection) -> None:
    reader, writer = client
    writer.write(b"last words")
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), 30) == b"last words"


async def test_delay_applies_both_ways_and_may_change(client: Connection, relay: Relay) -> None:
    relay.delay_s = 0.1
    began = time.monotonic()
    await say(client, b"x")
    assert time.monotonic() - began >= 0.2
    relay.delay_s = 0.0
    assert await say(client, b"y") == b"y"


async def test_cut_drops_who_is_connected_and_lets_others_in(
    client: Connection, relay: Relay
) -> None:
    await say(client, b"x")
    relay.cut()
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await say(client, b"y")
    again = await asyncio.open_connection("127.0.0.1", relay.port)
    assert await say(again, b"z") == b"z"
    again[1].transport.abort()


async def test_refused_until_accepted_again(relay: Relay) -> None:
    relay.refuse()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", relay.port)
    relay.accept()
    again = await asyncio.open_connection("127.0.0.1", relay.port)
    assert await say(again, b"z") == b"z"
    again[1].transport.abort()


async def test_held_bytes_arrive_when_released(client: Connection, relay: Relay) -> None:
    await say(client, b"x")
    relay.hold()
    reader, writer = client
    writer.write(b"later")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.readexactly(5), 0.1)
    relay.release()
    assert await asyncio.wait_for(reader.readexactly(5), 30) == b"later"


def test_port_that_is_taken_is_an_error_and_leaves_no_thread() -> None:
    port = free_ports(1)[0]
    first = Relay(port, 1)
    first.start()
    with closing(first):
        assert not is_free(port)
        with pytest.raises(OSError, match="in use"):
            Relay(port, 1).start()


def test_free_ports_are_different_and_below_those_for_outgoing_connections() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(20000 <= port < 32000 for port in ports)
