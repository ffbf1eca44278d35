"""The page of an engine that knows ten thousand objects, one of which had a run of five thousand tasks.

Real page, real artifacts; what it knows of its engine is made up, since a cluster would take a minute
for so many objects. It is served by a thread of its own, for the browser of this folder knows no
coroutines.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.server import OperatorPage
from rolecall.kube import Client
from rolecall.listening import Address, served
from tests.fixtures.eventually import eventually
from tests.unit.extensions.console.control.engine import Known, World, key
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster

OBJECTS, TASKS = 10_000, 5_000
TOKEN = "of-this-test"
LONG_RUN = "/cr/demo.example.com/v1/Website/shop/site-00000/runs/1"


@dataclass
class VeryMany:
    world: World
    port: int = 0
    ready: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def serve(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        cluster = cast(Client, FakeClient(FakeCluster()))
        ports = PagePorts(
            self.world.ports, self.world.last_runs, self.world.root, cluster, lambda _token: cluster
        )
        page = OperatorPage(ports, local_token=TOKEN)
        # Of a size that it has from the beginning: tests are asked which threads they left.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        ending = asyncio.ensure_future(asyncio.to_thread(self.over.wait))
        await asyncio.sleep(0)  # so that it has a thread, and the next call gets another one
        await asyncio.to_thread(int)
        async with served(page.app(), Address("127.0.0.1", 0), what="the page") as self.port:
            following = asyncio.ensure_future(page.run())
            self.ready.set()
            await ending
            following.cancel()
            await asyncio.wait([following])


@contextmanager
def very_many(root: Path) -> Iterator[VeryMany]:
    world = World(root)
    for number in range(OBJECTS):
        world.known[key(f"site-{number:05}")] = Known()
    world.keep("site-00000", outcome="succeeded", seconds=61.5)
    (run,) = root.glob("**/artifacts/1")
    write_tasks(run / "job_events")
    many = VeryMany(world)
    thread = threading.Thread(target=many.serve, name="page of very many")
    thread.start()
    eventually(many.ready.is_set)
    yield many
    many.over.set()
    thread.join(30)


def write_tasks(folder: Path) -> None:
    """As ansible-runner writes them; each of a hundred changed something."""
    folder.mkdir()
    for number in range(TASKS):
        data: dict[str, Any] = {"task": f"step {number:04}", "task_uuid": f"{number}"}
        data["task_path"] = f"/opt/roles/site/tasks/main.yml:{number + 2}"
        start = {"event": "playbook_on_task_start", "event_data": data}
        ended = {"host": "localhost", "duration": 0.01, "res": {"changed": number % 100 == 0}}
        end = {"event": "runner_on_ok", "event_data": data | ended}
        for counter, event in ((2 * number + 1, start), (2 * number + 2, end)):
            (folder / f"{counter}-{counter:08}.json").write_text(json.dumps(event))
