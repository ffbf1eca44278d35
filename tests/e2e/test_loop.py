"""No code may block the event loop: every CR waits meanwhile."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import cr, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

PLAIN = kind("Plain")
LIMIT_MS = 20
RUNS = 20
AT_A_TIME = 50


async def create_all(api: Client, namespace: str, count: int) -> None:
    """CRs as large as people write them, status and all."""
    gate = asyncio.Semaphore(AT_A_TIME)

    async def create(number: int) -> None:
        async with gate:
            spec = {f"setting{place}": "x" * 40 for place in range(20)}
            await api.create(PLAIN, cr(PLAIN, namespace, f"x{number}", **spec))

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(create(number))


@pytest.mark.parametrize("there_before", [0, pytest.param(5000, marks=pytest.mark.nightly)])
async def test_nothing_works_on_the_loop_for_longer_than_twenty_milliseconds(
    api: Client, namespace: str, start_engine: StartEngine, there_before: int
) -> None:
    await install(api, crd_for(PLAIN))
    await create_all(api, namespace, there_before)
    flags = (f"--loop-limit={LIMIT_MS}ms", "--log-format=json")
    engine = start_engine(BEHAVIOURS, *flags).wait_ready()
    if not there_before:
        await create_all(api, namespace, RUNS)
    await eventually_async(
        lambda: engine.runs("Plain"), lambda runs: runs >= RUNS, timeout_s=2 * PATIENCE_S
    )
    engine.stop()
    said: list[dict[str, Any]] = [json.loads(line) for line in engine.log.splitlines()]
    held = [line for line in said if line["msg"] == "the event loop was blocked"]
    # A loop that only waited for the interpreter or for a CPU did not work: the machine is busy.
    assert [line for line in held if line["cpu_ms"] > LIMIT_MS] == []
