"""Each request of a run is made by the right under which the run was given its credential."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import aiohttp
import pytest

from rolecall.acting import acting_for, current_hand
from rolecall.errors import NotLeadingError
from tests.unit.proxy.test_upgrades import echo, raw
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

MAPS = "/api/v1/namespaces/prod/configmaps"


class Hand:
    def __init__(self) -> None:
        self.is_held = True

    def holds(self) -> bool:
        return self.is_held


def fence(method: str, _target: str, headers: Mapping[str, str], _body: object) -> None:
    hand = current_hand()
    is_write = method != "GET" or "Upgrade" in headers
    if is_write and (hand is None or not hand.holds()):
        raise NotLeadingError(method)


async def say(request: Received) -> None:
    await answer(request, 200, {"kind": "ConfigMap", "metadata": {"name": "x", "uid": "u"}})


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Play]:
    """A proxy and an API server; its own run acts by no right."""
    async with opened_play(tmp_path, fence=fence) as opened:
        opened.upstream.say = say
        yield opened


async def write(play: Play) -> int:
    async with play.request("PUT", f"{MAPS}/x", json={"metadata": {"name": "x"}}) as response:
        return response.status


async def test_run_writes_as_long_as_its_right_holds_and_reads_on(bare: Play) -> None:
    hand = Hand()
    with acting_for(hand):
        run = play_of(bare.proxy, bare.upstream, bare.reported)
        play = await run.__aenter__()
    assert await write(play) == 200

    hand.is_held = False

    assert await write(play) == 503
    assert [each.method for each in bare.upstream.received].count("PUT") == 1, "nothing was sent"
    async with play.request("GET", f"{MAPS}/x") as response:
        assert response.status == 200
    await run.__aexit__(None, None, None)


async def test_two_runs_beside_each_other_write_each_by_its_own_right(bare: Play) -> None:
    held, lost = Hand(), Hand()
    lost.is_held = False
    with acting_for(held):
        first = play_of(bare.proxy, bare.upstream, bare.reported)
        one = await first.__aenter__()
    with acting_for(lost):
        second = play_of(bare.proxy, bare.upstream, bare.reported)
        other = await second.__aenter__()

    assert await asyncio.gather(*(write(each) for each in (one, other) * 4)) == [200, 503] * 4

    await second.__aexit__(None, None, None)
    await first.__aexit__(None, None, None)


async def test_shell_in_a_pod_takes_nothing_more_once_the_right_is_lost(bare: Play) -> None:
    hand, arrived = Hand(), bytearray()

    async def listen(request: Received) -> None:
        await echo(Received(**{**vars(request), "reader": Tapped(request.reader, arrived)}))

    bare.upstream.say = listen
    with acting_for(hand):
        run = play_of(bare.proxy, bare.upstream, bare.reported)
        play = await run.__aenter__()
    reader, writer = await raw(play, "POST", "SPDY/3.1")
    await reader.readuntil(b"hello")
    writer.write(b"ok")
    assert await reader.readexactly(4) == b"okok"

    hand.is_held = False
    writer.write(b"rm -rf /data")

    with pytest.raises((ConnectionError, asyncio.IncompleteReadError, aiohttp.ClientError)):
        await reader.readexactly(1)
    assert bytes(arrived) == b"ok"
    writer.close()
    await run.__aexit__(None, None, None)


class Tapped(asyncio.StreamReader):
    """Notes what arrives."""

    def __init__(self, reader: asyncio.StreamReader, arrived: bytearray) -> None:
        super().__init__()
        self._reader, self._arrived = reader, arrived

    async def read(self, n: int = -1) -> bytes:
        piece = await self._reader.read(n)
        self._arrived += piece
        return piece
