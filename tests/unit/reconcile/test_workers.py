"""Workers: each outcome goes back to the queue its own way, and stopping ends everything in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from rolecall.reconcile import Workers
from rolecall.runner import RunRequest
from rolecall.workqueue import Key, Queue, Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.stage import LongRun, Stage, hands_for
from tests.unit.workqueue.virtual_clock import VirtualClock


@asynccontextmanager
async def working(stage: Stage, max_runs: int = 2) -> AsyncIterator[tuple[Queue, Workers]]:
    queue, workers = hands_for(stage, max_runs=max_runs)
    running = asyncio.create_task(workers.run(max_runs))
    try:
        yield queue, workers
    finally:
        await workers.drain(0.0)
        await running


async def test_key_that_was_added_is_reconciled_and_comes_back_after_its_period(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    async with working(stage) as (queue, _):
        queue.add(stage.key(), Urgency.EDIT)
        await clock.advance(1.0)
        assert len(stage.runner.requests) == 1
        await clock.advance(36000.0 * 1.1)

        assert len(stage.runner.requests) == 2
        assert stage.telemetry.turns == ["requeue_after", "requeue_after"]


async def test_no_key_is_taken_while_this_replica_may_not_lead(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    leads = asyncio.Event()
    queue, workers = hands_for(stage, ready=leads.wait)
    queue.add(stage.key(), Urgency.STARTUP)
    running = asyncio.create_task(workers.run(2))
    await clock.advance(60.0)
    assert len(queue.snapshot().in_hand) == 0

    leads.set()
    await clock.advance(1.0)

    assert len(stage.runner.requests) == 1
    await workers.drain(0.0)
    await running


async def test_failed_key_backs_off_and_success_resets_it(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    stage.runner.will(BAD, BAD, GOOD)
    async with working(stage) as (queue, _):
        queue.add(stage.key(), Urgency.EDIT)
        await clock.advance(0.014)
        assert len(stage.runner.requests) == 2
        await clock.advance(0.001)

        assert len(stage.runner.requests) == 3
        assert queue.snapshot().backing_off == 0
        assert stage.telemetry.turns == ["error", "error", "requeue_after"]


async def test_key_without_a_next_time_waits_for_events_only(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    stage.runner.will(replace(GOOD, requeue_after_s=0.0))
    async with working(stage) as (queue, _):
        queue.add(stage.key(), Urgency.EDIT)
        await clock.advance(100_000.0)

        assert len(stage.runner.requests) == 1
        assert queue.snapshot().delayed == 0
        assert stage.telemetry.turns == ["success"]


async def test_gone_object_is_forgotten_with_all_that_is_kept_of_it(
    stage: Stage, clock: VirtualClock
) -> None:
    gone: list[Key] = []

    async def on_gone(key: Key) -> None:
        gone.append(key)

    queue, _ = hands_for(stage)
    workers = Workers(queue, stage.reconciler, stage.telemetry, clock, on_gone)
    running = asyncio.create_task(workers.run(1))
    queue.add_after(stage.key(), 500.0, Urgency.PERIOD)
    queue.add(stage.key(), Urgency.EDIT)
    await clock.rest()

    assert gone == [stage.key()]
    assert queue.snapshot().delayed == 0
    await workers.drain(0.0)
    await running


async def test_events_during_a_run_make_one_more_run_and_never_two_at_once(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    run = LongRun()
    stage.runner.will(run, GOOD)
    async with working(stage, max_runs=4) as (queue, _):
        queue.add(stage.key(), Urgency.EDIT)
        await run.began.wait()
        for _ in range(20):
            queue.add(stage.key(), Urgency.DEPENDENT)
            await clock.rest()
        assert len(stage.runner.requests) == 1
        run.end(GOOD)
        await clock.rest()

        assert len(stage.runner.requests) == 2
        assert stage.runner.doubled == []


async def test_bug_costs_one_key_one_turn_and_is_told(
    stage: Stage, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await stage.shop.create("broken")
    await stage.shop.create("fine")

    async def bug(request: RunRequest) -> None:
        if request.cr["metadata"]["name"] == "broken":
            raise ZeroDivisionError("of all things")

    stage.runner.will(bug)
    async with working(stage, max_runs=1) as (queue, _):
        with caplog.at_level(logging.ERROR):
            queue.add(stage.key("broken"), Urgency.EDIT)
            queue.add(stage.key("fine"), Urgency.EDIT)
            await clock.rest()

        assert (await stage.told("Successful", "fine"))[0] == "True"
        assert "internal error" in (await stage.told("Failure", "broken"))[2]
        assert queue.snapshot().backing_off == 1
    traces = [record for record in caplog.records if record.exc_info]
    assert len(traces) == 1


async def test_kept_things_that_cannot_be_removed_are_tried_again(
    stage: Stage, clock: VirtualClock
) -> None:
    tries = 0

    async def on_gone(_: Key) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError("busy")

    queue, _ = hands_for(stage)
    workers = Workers(queue, stage.reconciler, stage.telemetry, clock, on_gone)
    running = asyncio.create_task(workers.run(1))
    queue.add(stage.key(), Urgency.EDIT)
    await clock.advance(0.1)

    assert tries == 2
    await workers.drain(0.0)
    await running


async def test_stopping_waits_for_runs_and_takes_no_new_keys(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    await stage.shop.create("b")
    run = LongRun()
    stage.runner.will(run, GOOD)
    queue, workers = hands_for(stage, max_runs=1)
    running = asyncio.create_task(workers.run(1))
    queue.add(stage.key(), Urgency.EDIT)
    await run.began.wait()
    queue.add(stage.key("b"), Urgency.EDIT)
    stopping = asyncio.create_task(workers.drain(30.0))
    await clock.advance(20.0)
    assert not stopping.done()

    run.end(GOOD)
    await stopping
    await running

    assert (await stage.told("Successful"))[0] == "True"
    assert len(stage.runner.requests) == 1


async def test_stopping_ends_runs_that_take_too_long(stage: Stage, clock: VirtualClock) -> None:
    await stage.shop.create()
    run = LongRun()
    stage.runner.will(run)
    queue, workers = hands_for(stage)
    running = asyncio.create_task(workers.run(2))
    queue.add(stage.key(), Urgency.EDIT)
    await run.began.wait()

    stopping = asyncio.create_task(workers.drain(30.0))
    await clock.advance(30.0)
    await stopping
    await running

    assert (await stage.told("Running"))[:2] == ("False", "Cancelled")
    assert stage.runner.in_flight == []


async def test_stopping_cancels_turns_that_hang_elsewhere(
    stage: Stage, shop: Shop, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = asyncio.Event()

    async def hangs(*_: object) -> dict[str, object]:
        await never.wait()
        return {}

    monkeypatch.setattr(shop.cluster, "get", hangs)
    queue, workers = hands_for(stage)
    running = asyncio.create_task(workers.run(2))
    queue.add(stage.key(), Urgency.EDIT)
    await clock.rest()

    stopping = asyncio.create_task(workers.drain(0.0))
    await clock.advance(10.0)
    await stopping
    await running

    assert not queue.snapshot().in_hand[stage.watch.gvk]


async def test_log_tells_start_and_end_of_a_run_with_the_next_time(
    stage: Stage, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await stage.shop.create()
    stage.runner.will(GOOD, BAD)
    with caplog.at_level(logging.INFO):
        async with working(stage) as (queue, _):
            queue.add(stage.key(), Urgency.EDIT)
            await clock.rest()
            queue.add(stage.key(), Urgency.EDIT)
            await clock.rest()

    told = [(record.getMessage(), record.__dict__["fields"]) for record in caplog.records]
    started, finished = told[0], told[1]
    assert started[0] == "run started"
    assert started[1] | {"generation": 1, "run": "1", "name": "a"} == started[1]
    assert finished[0] == "run finished"
    assert finished[1]["next_in_s"] == 36000.0
    assert [message for message, _ in told].count("run failed") == 1
