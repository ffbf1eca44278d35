"""Two replicas that convert, under 50 requests a second: whatever happens to them, no request fails."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import aiohttp
import pytest

from rolecall.certificates import PemPair
from rolecall.extensions.versions.webhooks.certificate_steps import new_server
from rolecall.extensions.versions.webhooks.certificates import ANNOTATION
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ApiError, Client, NotFoundError
from tests.e2e.balancer import Balancer
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.fleets import (
    ALPHA,
    ONE,
    SPECS,
    VERSIONS,
    crd,
    delete_kind,
    flags,
    fleet,
    path,
    reported,
)
from tests.e2e.kinds import is_successful
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually, eventually_async

SECRET = Gvk("", "v1", "Secret")
PAUSE_S = 0.02
T = TypeVar("T")


async def elsewhere(call: Callable[[], T]) -> T:
    """In a thread, so that the load goes on."""
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, call)


@dataclass
class Load:
    """Requests at another version than the stored one, and those that failed, with their times."""

    api: Client
    path: str
    done: int = 0
    failed: list[tuple[float, float, str]] = field(default_factory=list)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            while True:
                tasks.create_task(self._ask())
                await asyncio.sleep(PAUSE_S)

    async def _ask(self) -> None:
        began = time.monotonic()
        try:
            async with self.api.request_raw("GET", self.path) as answer:
                said = await answer.text()
                is_right = answer.status == 200 and '"size":3' in said
        except aiohttp.ClientError as error:
            is_right, said = False, repr(error)
        self.done += 1
        if not is_right:
            self.failed.append((began, time.monotonic(), said))

    async def some(self) -> None:
        """Go on for a while."""
        before = self.done
        await eventually_async(lambda: self.done >= before + 50)


@dataclass
class Replicas:
    start: Callable[[], EngineProcess] = field(init=False)
    running: list[EngineProcess] = field(default_factory=list)
    flags: tuple[str, ...] = ()

    @property
    def ports(self) -> list[int]:
        return [each.ports["webhooks"] for each in self.running]

    async def add(self) -> EngineProcess:
        engine = self.start()
        await elsewhere(engine.wait_ready)
        self.running.append(engine)
        return engine

    async def stop(self, engine: EngineProcess) -> None:
        """As a Deployment does; a Service stops sending to it at about that time."""
        assert await elsewhere(engine.stop) == 0
        self.running.remove(engine)


@pytest.fixture
async def replicas(
    api: Client, start_engine: StartEngine, namespace: str
) -> AsyncIterator[Replicas]:
    """Two, behind one address, and one object to be asked for."""
    await install(api, crd())
    found = Replicas()
    with Balancer(lambda: found.ports) as balancer:
        election = (
            "--leader-elect",
            "--leader-election-id=versions",
            f"--webhook-url=https://127.0.0.1:{balancer.port}",
        )
        found.flags = (*flags(namespace), *election)
        found.start = lambda: start_engine(VERSIONS, *found.flags, namespaces="default")
        for _ in range(2):
            await found.add()
        await reported(api, namespace)
        await api.create(ALPHA, fleet(ALPHA, namespace))
        yield found
        await delete_kind(api)


@pytest.fixture
async def load(api: Client, replicas: Replicas, namespace: str) -> AsyncIterator[Load]:
    load = Load(api, path(ALPHA, namespace, "x"))
    running = asyncio.create_task(load.run())
    await load.some()
    yield load
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert load.done > 100


async def content(api: Client, namespace: str) -> dict[str, bytes]:
    found = await api.get(SECRET, namespace, "rolecall-webhooks")
    return {key: base64.b64decode(value) for key, value in found["data"].items()}


async def shown_by(engine: EngineProcess) -> bytes:
    """The certificate that it shows now."""
    address = ("127.0.0.1", engine.ports["webhooks"])
    return (await elsewhere(lambda: ssl.get_server_certificate(address))).encode()


async def all_show(api: Client, replicas: Replicas, namespace: str) -> None:
    async def differ() -> bool:
        wanted = (await content(api, namespace))["tls.crt"].strip()
        return all([(await shown_by(each)).strip() == wanted for each in replicas.running])

    await eventually_async(differ)


@pytest.mark.nightly
async def test_no_request_fails_while_certificate_and_authority_are_made_anew(
    api: Client, replicas: Replicas, load: Load, namespace: str
) -> None:
    before = await content(api, namespace)
    authority = PemPair(before["ca.crt"], before["ca.key"])
    late = new_server(authority, ["127.0.0.1"], datetime.now(UTC) - timedelta(days=80))
    data = {"tls.crt": late.certificate, "tls.key": late.key}
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    await api.merge_patch(SECRET, namespace, "rolecall-webhooks", {"data": encoded})

    async def renewed() -> bool:
        return (await content(api, namespace))["tls.crt"] not in (
            data["tls.crt"],
            before["tls.crt"],
        )

    await eventually_async(renewed)
    await all_show(api, replicas, namespace)
    await load.some()
    assert load.failed == []

    wish: Json = {"metadata": {"annotations": {ANNOTATION: "yes"}}}
    await api.merge_patch(SECRET, namespace, "rolecall-webhooks", wish)

    async def exchanged() -> bool:
        found = await content(api, namespace)
        return not found["ca.crt"].startswith(before["ca.crt"].strip())

    await eventually_async(exchanged)
    await all_show(api, replicas, namespace)
    await load.some()
    assert load.failed == []
    known = await content(api, namespace)
    await api.delete(SECRET, namespace, "rolecall-webhooks")
    await eventually_async(
        lambda: content(api, namespace), lambda found: found == known, ignoring=(NotFoundError,)
    )
    await load.some()
    assert load.failed == []
    assert all("BEGIN" not in engine.log for engine in replicas.running), "no key gets into a log"


@pytest.mark.nightly
async def test_no_request_fails_while_replicas_are_rolled_and_only_those_in_flight_where_one_is_killed(
    api: Client, replicas: Replicas, load: Load, namespace: str
) -> None:
    for old in list(replicas.running):
        await replicas.add()
        await replicas.stop(old)
        await load.some()
        assert load.failed == []
    assert (await api.get(ONE, namespace, "x"))["spec"] == SPECS[ONE]

    killed = replicas.running.pop(0)
    killed.process.kill()
    at = time.monotonic()
    eventually(lambda: killed.process.poll() is not None)
    await load.some()
    late = [why for began, ended, why in load.failed if not began <= at + PAUSE_S or ended < at]
    assert late == []


@pytest.mark.nightly
async def test_first_replica_is_ready_before_anybody_can_list_its_kind_and_then_runs(
    api: Client, replicas: Replicas, namespace: str, start_engine: StartEngine
) -> None:
    """The API server reaches a Service, which has only who is ready."""
    for each in list(replicas.running):
        await replicas.stop(each)
    replicas.start = lambda: start_engine(VERSIONS, *replicas.flags)
    await replicas.add()
    await eventually_async(
        lambda: api.get(ONE, namespace, "x"), is_successful, ignoring=(ApiError, KeyError)
    )
