"""Handlers of a leader that was frozen write nothing once another replica leads."""

from __future__ import annotations

import asyncio
import signal

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S
from tests.e2e.kinds import cr
from tests.e2e.test_handlers import KINDS, PROJECT, SITE
from tests.e2e.test_handlers_faults import child_of, is_alive
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually, eventually_async


async def test_handler_of_a_leader_that_was_frozen_writes_nothing_when_it_goes_on(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    for definition in KINDS:
        await install(api, definition)
    flags = (
        "--leader-elect",
        "--leader-election-id=frozen",
        f"--leader-election-namespace={namespace}",
        "--leader-elect-lease-duration=8s",
        "--leader-elect-renew-deadline=6s",
    )
    first = start_engine(PROJECT, *flags).wait_ready()
    before = child_of(first)
    second = start_engine(PROJECT, *flags).wait_ready()
    await api.create(SITE, cr(SITE, namespace))

    async def is_by(pid: int) -> str:
        found = await eventually_async(
            lambda: api.get(SITE, namespace, "x"),
            lambda cr: cr.get("status", {}).get("by") == pid,
            timeout_s=PATIENCE_S,
        )
        version: str = found["metadata"]["resourceVersion"]
        return version

    await is_by(before)
    first.send(signal.SIGSTOP)
    after = child_of(second)
    version = await is_by(after)
    writers: set[int] = set()

    async def note_writers() -> None:
        async for event in api.watch(SITE, namespace, resource_version=version):
            writers.add(event.object["status"]["by"])

    noting = asyncio.create_task(note_writers())
    first.send(signal.SIGCONT)
    await eventually_async(lambda: not is_alive(before), timeout_s=PATIENCE_S)
    await eventually_async(lambda: writers, timeout_s=PATIENCE_S)
    eventually(lambda: second.metric("rolecall_handler_calls_total", handler="tick") > 5)

    noting.cancel()
    assert writers == {after}
