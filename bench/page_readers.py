"""Readers of the page, like browsers: each has a stream of changes and the view that it reads again
whenever the stream has some, and every few seconds another view.

Each comes from an address of its own, since logins are limited for an address, and sends a token of
its own, so that each has rights of its own to be asked for.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import aiohttp

from bench.page_world import LONG_RUN
from rolecall.workqueue import Key

_MOVES_S = 3.0
_REST_S = 0.5  # as page.js rests between two looks at the same part
_POSITION = re.compile(r'data-position="([^"]+)"')
_TASK = re.compile(r'data-task="(\d+)"')


@dataclass
class Looks:
    """What readers waited for each view, in seconds, and what was refused to them."""

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refusals: list[str] = field(default_factory=list)
    events: int = 0  # of streams


@dataclass
class Reader:
    """One of them. `number` makes its address."""

    port: int
    number: int
    token: str
    keys: Sequence[Key]
    looks: Looks

    async def look(self, seconds: float) -> None:
        """Look at this and that for so long."""
        dice = random.Random(self.number)
        address = f"127.0.1.{self.number + 1}"
        connector = aiohttp.TCPConnector(local_addr=(address, 0))
        headers = {"Authorization": f"Bearer {self.token}"}
        async with aiohttp.ClientSession(
            f"http://127.0.0.1:{self.port}", connector=connector, headers=headers
        ) as session:
            self._session, self._changed = session, asyncio.Event()
            self._here = "overview", "/?fragment=1"
            await asyncio.sleep(dice.random() * _MOVES_S)
            text = await self._get("overview", "/")
            position = _POSITION.search(text)
            parts = (
                self._follow(position.group(1) if position else ""),
                self._refresh(),
                self._wander(dice),
            )
            tasks = [asyncio.create_task(part) for part in parts]
            done, left = await asyncio.wait(
                tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            for task in done:
                task.result()

    async def _wander(self, dice: random.Random) -> None:
        while True:
            await asyncio.sleep(_MOVES_S * (0.5 + dice.random()))
            await dice.choice((self._overview, self._list, self._object, self._run))(dice)

    async def _overview(self, _dice: random.Random) -> None:
        self._here = "overview", "/?fragment=1"
        await self._get("overview", "/")

    async def _list(self, dice: random.Random) -> None:
        found = dice.choice(("", "name=cr-012", "state=failed", "namespace=page-3"))
        self._here = "list, rows", f"/crs?{found}&fragment=1&from=0&count=60"
        await self._get("list", f"/crs?{found}")
        start = dice.randrange(len(self.keys) // 2)
        await self._get("list, rows", f"/crs?fragment=1&from={start}&count=60")

    async def _object(self, dice: random.Random) -> None:
        path = _path_of(dice.choice(self.keys))
        self._here = "object", f"{path}?fragment=1"
        await self._get("object", path)

    async def _run(self, dice: random.Random) -> None:
        path = f"{_path_of(self.keys[-1])}/runs/{LONG_RUN}"
        self._here = "", ""
        await self._get("run of 5,000 tasks", path)
        start = dice.randrange(4900)
        rows = await self._get("run, rows", f"{path}?fragment=1&from={start}&count=60")
        if task := _TASK.search(rows):
            await self._get("task", f"{path}/tasks/{task.group(1)}?fragment=1")

    async def _refresh(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._here[1]:
                await self._get(*self._here)
            await asyncio.sleep(_REST_S)

    async def _follow(self, position: str) -> None:
        no_end = aiohttp.ClientTimeout(total=None)
        async with self._session.get(f"/events?after={position}", timeout=no_end) as stream:
            if stream.status != 200:
                self.looks.refusals.append(f"stream: {stream.status}")
                return
            async for line in stream.content:
                if line.startswith(b"event:"):
                    self.looks.events += 1
                    self._changed.set()

    async def _get(self, what: str, path: str) -> str:
        began = time.monotonic()
        status, text = await self._answer(path)
        if status != 200:
            self.looks.refusals.append(f"{what}: {status}")
            return ""
        self.looks.waits[what].append(time.monotonic() - began)
        return text

    async def _answer(self, path: str) -> tuple[int, str]:
        """As browsers do, ask again where the connection that was kept was closed to make room."""
        for is_last in (False, False, True):
            try:
                async with self._session.get(path, allow_redirects=False) as answer:
                    return answer.status, await answer.text()
            except aiohttp.ClientConnectionError:
                if is_last:
                    raise
        raise AssertionError("the last attempt returns or raises")


def _path_of(key: Key) -> str:
    gvk = key.gvk
    return f"/cr/{gvk.group}/{gvk.version}/{gvk.kind}/{key.namespace}/{key.name}"
