"""Queue, workers and the real API server together: no double run, and status catches up with edits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial

import pytest

from rolecall.kube import NotFoundError
from rolecall.reconcile import Workers
from rolecall.runner import RunRequest
from rolecall.workqueue import Queue, Urgency
from tests.fixtures.eventually import eventually_async
from tests.unit.reconcile.setting import Setting, hands_for

CRS = 6
EDITS = 40


@pytest.fixture
async def hands(holding_setting: Setting) -> AsyncIterator[tuple[Queue, Workers]]:
    queue, workers = hands_for(holding_setting, max_runs=4)
    running = asyncio.create_task(workers.run(4))
    yield queue, workers
    await workers.drain(0.0)
    await running


async def crs_at_work(
    setting: Setting, queue: Queue, urgency: Urgency, chance: random.Random
) -> list[str]:
    """Objects that are in the queue, each run of which takes a little longer or shorter."""

    async def some_work(_: RunRequest) -> None:
        await asyncio.sleep(chance.uniform(0.0, 0.02))

    setting.runner.will(some_work)
    names = [f"cr-{number}" for number in range(CRS)]
    for name in names:
        await setting.shop.create(name)
        queue.add(setting.key(name), urgency)
    return names


@pytest.mark.fast
async def test_status_catches_up_with_edits_and_no_object_has_two_runs(
    holding_setting: Setting, hands: tuple[Queue, Workers]
) -> None:
    setting, (queue, _) = holding_setting, hands
    chance = random.Random(7)
    names = await crs_at_work(setting, queue, Urgency.STARTUP, chance)
    for size in range(EDITS):
        name = chance.choice(names)
        await setting.shop.patch({"spec": {"size": size}}, name)
        queue.add(setting.key(name), Urgency.EDIT)

    for name in names:
        await eventually_async(partial(is_up_to_date, setting, name))
    assert setting.runner.doubled == []


async def is_up_to_date(setting: Setting, name: str) -> bool:
    cr = await setting.shop.get(name)
    status = cr.get("status", {})
    ready = [item["status"] for item in status.get("conditions", []) if item["type"] == "Ready"]
    is_current = status.get("observedGeneration") == cr["metadata"]["generation"]
    return is_current and ready == ["True"]


async def test_objects_deleted_at_any_moment_all_go_after_one_finalizer_run_that_succeeded(
    holding_setting: Setting, hands: tuple[Queue, Workers]
) -> None:
    setting, (queue, _) = holding_setting, hands
    chance = random.Random(11)
    names = await crs_at_work(setting, queue, Urgency.EDIT, chance)
    for name in names:
        await asyncio.sleep(chance.uniform(0.0, 0.02))
        await setting.shop.delete(name)
        queue.add(setting.key(name), Urgency.EDIT)

    for name in names:
        await eventually_async(partial(is_gone, setting, name))
    for name in names:
        runs = [run for run in setting.runner.requests if run.cr["metadata"]["name"] == name]
        held = [run for run in runs if run.cr["metadata"].get("finalizers")]
        assert len([run for run in runs if run.is_finalizer]) == (1 if held else 0)
    assert setting.runner.doubled == []


async def is_gone(setting: Setting, name: str) -> bool:
    try:
        await setting.shop.get(name)
    except NotFoundError:
        return True
    return False
