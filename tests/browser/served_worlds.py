"""A seeded world, with its page: the real one, served by a thread of its own, because the browser of
this folder knows no coroutines.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.server import OperatorPage
from rolecall.kube import Client
from rolecall.listening import Address, served
from rolecall.plan import PlannedRun
from rolecall.workqueue import Key
from tests.browser.seeded_plans import planned
from tests.browser.seeded_world import SeededWorld
from tests.fixtures.eventually import eventually

PLAN_S = 1.0  # how long one takes
TOKEN = "of-this-test"
_THREADS = 4  # one waits for the end


@dataclass
class ServedWorld:
    """`port`: where; users of the cluster log in unless the page is local."""

    world: SeededWorld
    is_local: bool = True
    port: int = 0
    ready: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    loop: asyncio.AbstractEventLoop | None = None

    def change(self, change: Callable[[], object]) -> None:
        """Do it on the loop of the page, as an engine does, and return when it is done."""
        assert self.loop is not None
        done = threading.Event()

        def do() -> None:
            change()
            done.set()

        self.loop.call_soon_threadsafe(do)
        assert done.wait(30)

    def serve(self) -> None:
        asyncio.run(self._serve())

    async def _plan(self, key: Key, _place: int) -> PlannedRun:
        await asyncio.sleep(PLAN_S)
        return planned(self.world.cluster, key)

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        world = self.world
        ports = PagePorts(
            world.ports,
            world.last_runs,
            world.root,
            cast(Client, world.client()),
            lambda token: cast(Client, world.client(token)),
            plan=self._plan,
        )
        page = OperatorPage(ports, local_token=TOKEN if self.is_local else "")
        # All its threads begin here: tests are asked which threads they left.
        executor, all_began = ThreadPoolExecutor(_THREADS), threading.Barrier(_THREADS)
        for _ in range(_THREADS):
            executor.submit(all_began.wait)
        self.loop.set_default_executor(executor)
        ending = asyncio.ensure_future(asyncio.to_thread(self.over.wait))
        address = Address("127.0.0.1", self.port)
        async with served(page.app(), address, what="the page") as self.port:
            following = [asyncio.ensure_future(each()) for each in (page.run, page.run_trends)]
            self.ready.set()
            await ending
            for each in following:
                each.cancel()
            await asyncio.wait(following)


@contextmanager
def served_world(
    world: SeededWorld, *, is_local: bool = True, port: int = 0
) -> Iterator[ServedWorld]:
    """The page of a world; local: who has `TOKEN` enters."""
    serving = ServedWorld(world, is_local, port)
    thread = threading.Thread(target=serving.serve, name="page of a seeded world")
    thread.start()
    try:
        eventually(serving.ready.is_set)
        yield serving
    finally:
        serving.over.set()
        thread.join(30)
