"""An engine killed somewhere on its path: the next engine brings all to its end.

The path is what an engine does for one object, from its creation until it is gone with its finalizer.
Each request to the API server, those of its plays too, is a place to die at twice: before it is passed
on, and when it was done but not answered. Each system call that changes a file is another. Some are
tried, spread over the path; `KILLS=all` tries each.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import web

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from rolecall_dev.staging import FaultProxy
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.faulty_world import (
    FAULTS,
    FINALIZER,
    KEPT,
    converged,
    doubled_runs,
    ended_runs,
    gone_with_all,
    kept,
)
from tests.e2e.kinds import is_gone
from tests.e2e.test_ending import kubeconfigs_in, plays_of
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async
from tests.fixtures.figures import Figure
from tests.fixtures.traced import ALL_THREADS, calls_of, killed_at, needs_strace, spread, traced

SOME_CALLS = 4
TAKES_ALL = os.environ.get("KILLS") == "all"
# What it may leave half done: all else that it does is undone by its end.
CHANGES = (
    "write,pwrite64,writev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,symlink,symlinkat"
)


class Request(NamedTuple):
    """The n-th about a namespace; before it is passed on, or before its answer is."""

    number: int
    is_done_first: bool

    def __str__(self) -> str:
        return f"request {self.number}{' done' if self.is_done_first else ''}"


class DeadlyProxy(FaultProxy):
    """A way to the API server that kills the engine at a request about a namespace."""

    asked = 0  # requests since it began to count
    namespace = ""
    _place = Request(0, is_done_first=False)
    _engine: EngineProcess | None = None

    @contextmanager
    def killing(self, engine: EngineProcess, place: Request) -> Iterator[None]:
        """Kill this one there."""
        self.asked, self._engine, self._place = 0, engine, place
        yield
        self._engine = None

    async def _passed(self, request: web.BaseRequest, body: bytes) -> web.Response:
        if f"/namespaces/{self.namespace}/" not in request.rel_url.path:
            return await super()._passed(request, body)
        self.asked += 1
        if self._engine is None or self.asked != self._place.number:
            return await super()._passed(request, body)
        if self._place.is_done_first:
            await super()._passed(request, body)
        self._engine.process.kill()
        return web.Response(status=502)  # not read by any client


@dataclass
class Succession:
    """Engines of one place, of which each follows the one that was killed before."""

    api: Client
    namespace: str
    folder: Path
    start: Callable[[dict[str, str]], EngineProcess]
    killed: int = 0
    longest_s: float = 0.0
    engine: EngineProcess = field(init=False)

    async def begin(self) -> None:
        """With the first of them."""
        self._temporary.mkdir()
        self.engine = await self._started()

    async def live(self, place: object, dangers: AbstractContextManager[None]) -> None:
        """One object's whole life, under these dangers while the engine lives."""
        name = f"cr-{place}".replace(" ", "-").replace("_", "-")
        trail = self.folder / name
        with dangers:
            body = kept(self.namespace, name, trail=str(trail))
            await _until_gone_or_killed(self.api, self.engine, body)
        if self.engine.process.poll() is not None:
            await self._be_followed(name, place)
        assert await is_gone(self.api, KEPT, self.namespace, name)
        assert ended_runs(trail, "absent") >= 1, place
        assert not doubled_runs(trail), (place, trail.read_text())

    async def _be_followed(self, name: str, place: object) -> None:
        self.killed += 1
        left = kubeconfigs_in(self._temporary)
        await _plays_have_ended(self.engine)
        began = time.monotonic()
        self.engine = await self._started()
        await _brought_to_its_end(self.api, self.namespace, name)
        self.longest_s = max(self.longest_s, time.monotonic() - began)
        assert not left & kubeconfigs_in(self._temporary), place

    @property
    def _temporary(self) -> Path:
        return self.folder / "tmp"

    async def _started(self) -> EngineProcess:
        engine = self.start({"TMPDIR": str(self._temporary)})
        await eventually_async(lambda: "engine started" in engine.log)
        return engine


@pytest.mark.nightly
@pytest.mark.parametrize("some", [2, 6])
async def test_engine_killed_at_requests_of_its_path_is_followed_by_one_that_brings_all_to_its_end(
    cluster: Cluster,
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
    *,
    some: int,
) -> None:
    await install(api, crd_for(KEPT))
    async with DeadlyProxy.opened(cluster.kubeconfig) as proxy:
        assert isinstance(proxy, DeadlyProxy)
        proxy.namespace = namespace
        kubeconfig = proxy.write_kubeconfig(tmp_path / "deadly")
        engines = Succession(
            api,
            namespace,
            tmp_path,
            lambda variables: start_engine(FAULTS, kubeconfig=kubeconfig, environment=variables),
        )
        await engines.begin()
        path = await _path_of(api, proxy, namespace)
        assert (
            path >= 8
        )  # finalizer on, status, object made, status; status, object gone, finalizer off
        places = [Request(at, is_done) for at in range(1, path + 1) for is_done in (False, True)]
        if not TAKES_ALL:
            # An odd distance, so that both ways to die are among them.
            places = places[1 :: (len(places) // some) | 1][:some]
        for place in places:
            await engines.live(place, proxy.killing(engines.engine, place))
        figure("killed at", engines.killed, f"of {len(places)} places on a path of {path} requests")
        figure("all at its end after a start in at most", engines.longest_s, "s")
        # Requests that are not always made (Events that are joined) make the path shorter now and then.
        assert engines.killed >= len(places) - max(1, len(places) // 8)


@pytest.mark.nightly
async def test_engine_killed_as_it_changes_a_file_is_followed_by_one_that_brings_all_to_its_end(
    cluster: Cluster,
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    needs_strace()
    await install(api, crd_for(KEPT))
    engines = Succession(
        api,
        namespace,
        tmp_path,
        lambda variables: start_engine(FAULTS, environment=variables),
    )
    await engines.begin()
    trace = tmp_path / "trace"
    await _life(api, namespace, "first")
    with traced(
        engines.engine.process.pid, *ALL_THREADS, f"--output={trace}", f"--trace={CHANGES}"
    ):
        await _life(api, namespace, "looked-at")
    path = calls_of(trace)
    assert len(path) >= 10
    calls = path if TAKES_ALL else spread(path, SOME_CALLS)
    for call in calls:
        await engines.live(call, killed_at(engines.engine.process.pid, call, *ALL_THREADS))
    figure("killed at", engines.killed, f"of {len(calls)} of its {len(path)} calls")
    figure("all at its end after a start in at most", engines.longest_s, "s")
    assert engines.killed >= len(calls) * 0.6


async def _path_of(api: Client, proxy: DeadlyProxy, namespace: str) -> int:
    """How many requests one object takes; the second one, when all caches are warm."""
    for name in ("first", "looked-at"):
        proxy.asked = 0
        await _life(api, namespace, name)
    return proxy.asked


async def _life(api: Client, namespace: str, name: str) -> None:
    await api.create(KEPT, kept(namespace, name))
    await converged(api, namespace, name, "one")
    await _deleted(api, namespace, name)


async def _until_gone_or_killed(
    api: Client, engine: EngineProcess, body: dict[str, object]
) -> None:
    """A whole life of an object, as far as the engine lives."""
    made = await api.create(KEPT, body)
    namespace, name = made["metadata"]["namespace"], made["metadata"]["name"]
    for step in (converged(api, namespace, name, "one"), _deleted(api, namespace, name)):
        if engine.process.poll() is not None:
            step.close()
            continue
        life = asyncio.ensure_future(step)
        await _is_over(life, engine)
        if not life.done():
            life.cancel()
        await asyncio.gather(life, return_exceptions=True)
        if not life.cancelled():
            life.result()


async def _is_over(life: asyncio.Future[None], engine: EngineProcess) -> None:
    await eventually_async(lambda: life.done() or engine.process.poll() is not None)


async def _plays_have_ended(engine: EngineProcess) -> None:
    await eventually_async(lambda: not plays_of(engine.artifacts))


async def _deleted(api: Client, namespace: str, name: str) -> None:
    await api.delete(KEPT, namespace, name)
    await gone_with_all(api, namespace, name)


async def _brought_to_its_end(api: Client, namespace: str, name: str) -> None:
    """By the engine that followed: made and held if it was not deleted, and gone then."""
    if not await is_gone(api, KEPT, namespace, name):
        seen = await api.get(KEPT, namespace, name)
        if not seen["metadata"].get("deletionTimestamp"):
            await converged(api, namespace, name, "one")
            held = (await api.get(KEPT, namespace, name))["metadata"]["finalizers"]
            assert held == [FINALIZER]
            await api.delete(KEPT, namespace, name)
    await gone_with_all(api, namespace, name)
