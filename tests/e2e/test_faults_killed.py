"""An engine killed at a request of its path: whoever starts next brings all to its end.

The path is what an engine and its plays ask of the API server about one object, from its creation until
it is gone with its finalizer. Each request is a place to die at twice: before it is passed on, and when
it was done but not answered. Some are tried, spread over the path; `KILLS=all` tries each.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

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
from tests.e2e.kinds import install, is_gone
from tests.e2e.test_ending import kubeconfigs_in, plays_of
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async
from tests.fixtures.figures import Figure

SOME = 4


class DeadlyProxy(FaultProxy):
    """A way to the API server that kills the engine at the n-th request about a namespace."""

    asked = 0  # requests since it was armed
    namespace = ""
    _at, _is_done_first = 0, False
    _engine: EngineProcess | None = None

    def arm(
        self, engine: EngineProcess | None, at: int = 0, *, is_done_first: bool = False
    ) -> None:
        """Count anew; at 0, or without an engine, nobody is killed."""
        self.asked, self._engine, self._at, self._is_done_first = 0, engine, at, is_done_first

    async def _passed(self, request: web.BaseRequest, body: bytes) -> web.Response:
        if f"/namespaces/{self.namespace}/" not in request.rel_url.path:
            return await super()._passed(request, body)
        self.asked += 1
        if self._engine is None or self.asked != self._at:
            return await super()._passed(request, body)
        if self._is_done_first:
            await super()._passed(request, body)
        self._engine.process.kill()
        return web.Response(status=502)  # to nobody


async def test_engine_killed_at_requests_of_its_path_is_followed_by_one_that_brings_all_to_its_end(
    cluster: Cluster,
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    await install(api, crd_for(KEPT))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    async with DeadlyProxy.opened(cluster.kubeconfig) as proxy:
        assert isinstance(proxy, DeadlyProxy)
        proxy.namespace = namespace
        kubeconfig = proxy.write_kubeconfig(tmp_path / "deadly")

        async def started() -> EngineProcess:
            environment = {"TMPDIR": str(temporary)}
            engine = start_engine(FAULTS, kubeconfig=kubeconfig, environment=environment)
            await eventually_async(lambda: "engine started" in engine.log)
            return engine

        engine = await started()
        path = await _path_of(api, proxy, namespace)
        assert path >= 8  # finalizer on, told, object made, told; told, object gone, finalizer off
        places = [(at, is_done) for at in range(1, path + 1) for is_done in (False, True)]
        if os.environ.get("KILLS") != "all":
            # An odd distance, so that both ways to die are among them.
            places = places[1 :: (len(places) // SOME) | 1][:SOME]
        killed, longest_s = 0, 0.0
        for number, (at, is_done_first) in enumerate(places):
            name, trail = f"cr-{number}", tmp_path / f"trail-{number}"
            proxy.arm(engine, at, is_done_first=is_done_first)
            await _until_gone_or_killed(api, engine, kept(namespace, name, trail=str(trail)))
            proxy.arm(None)
            if engine.process.poll() is not None:
                killed += 1
                left = kubeconfigs_in(temporary)
                await _plays_have_ended(engine)
                began = time.monotonic()
                engine = await started()
                await _brought_to_its_end(api, namespace, name)
                longest_s = max(longest_s, time.monotonic() - began)
                assert not left & kubeconfigs_in(temporary), (at, is_done_first)
            assert await is_gone(api, KEPT, namespace, name)
            assert ended_runs(trail, "absent") >= 1, (at, is_done_first)
            assert not doubled_runs(trail), (at, is_done_first, trail.read_text())
        figure("killed at", killed, f"of {len(places)} places on a path of {path} requests")
        figure("all at its end after a start in at most", longest_s, "s")
        # Requests that are not always made (Events that are joined) make the path shorter now and then.
        assert killed >= len(places) - max(1, len(places) // 8)


async def _path_of(api: Client, proxy: DeadlyProxy, namespace: str) -> int:
    """How many requests one object takes; the second one, when all caches are warm."""
    for name in ("first", "looked-at"):
        proxy.arm(None)
        await api.create(KEPT, kept(namespace, name))
        await converged(api, namespace, name, "one")
        await api.delete(KEPT, namespace, name)
        await gone_with_all(api, namespace, name)
    return proxy.asked


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
    """By the engine that followed: made and held if nobody had deleted it, and gone then."""
    if not await is_gone(api, KEPT, namespace, name):
        seen = await api.get(KEPT, namespace, name)
        if not seen["metadata"].get("deletionTimestamp"):
            await converged(api, namespace, name, "one")
            held = (await api.get(KEPT, namespace, name))["metadata"]["finalizers"]
            assert held == [FINALIZER]
            await api.delete(KEPT, namespace, name)
    await gone_with_all(api, namespace, name)
