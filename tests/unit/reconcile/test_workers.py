"""Workers: each outcome goes back to the queue its own way, and stopping ends everything in time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest

from rolecall.election import Election
from rolecall.kube import UnavailableError
from rolecall.runner import RunRequest
from rolecall.workqueue import Key, Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import LongRun, Setting, hands_for, working
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_key_that_was_added_is_reconciled_and_comes_back_after_its_period(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)
        assert len(setting.runner.requests) == 1
        await clock.advance(36000.0 * 1.1)

        assert len(setting.runner.requests) == 2
        assert setting.telemetry.turns == ["requeue_after", "requeue_after"]


class Waiting(Election):
    """Leads once a test says so."""

    def __init__(self, leads: asyncio.Event) -> None:
        self._leads = leads

    async def wait_leading(self) -> None:
        await self._leads.wait()


async def test_no_key_is_taken_while_this_replica_may_not_lead(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    leads = asyncio.Event()
    queue, workers = hands_for(setting, election=Waiting(leads))
    queue.add(setting.key(), Urgency.STARTUP)
    running = asyncio.create_task(workers.run(2))
    await clock.advance(60.0)
    assert len(queue.snapshot().in_hand) == 0

    leads.set()
    await clock.advance(1.0)

    assert len(setting.runner.requests) == 1
    await workers.drain(0.0)
    await running


async def test_failed_key_backs_off_and_success_resets_it(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD, BAD, GOOD)
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(2.9)
        assert len(setting.runner.requests) == 2
        await clock.advance(0.1)

        assert len(setting.runner.requests) == 3
        assert queue.snapshot().backing_off == 0
        assert setting.telemetry.turns == ["error", "error", "requeue_after"]


async def test_broken_role_runs_four_times_in_its_first_eleven_seconds(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(11.0)

        assert len(setting.runner.requests) == 4


async def test_errors_of_the_api_server_are_tried_again_in_milliseconds(
    setting: Setting, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await setting.shop.create()
    asked: list[float] = []

    async def fails(*_: object) -> dict[str, object]:
        asked.append(clock.monotonic())
        raise UnavailableError("no answer")

    monkeypatch.setattr(setting.shop.cluster, "get", fails)
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(0.02)

        assert asked == pytest.approx([0.0, 0.005, 0.015])


async def test_key_without_a_next_time_waits_for_events_only(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    setting.runner.will(replace(GOOD, requeue_after_s=0.0))
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(100_000.0)

        assert len(setting.runner.requests) == 1
        assert queue.snapshot().delayed == 0
        assert setting.telemetry.turns == ["success"]


async def test_gone_object_is_forgotten_with_all_that_is_kept_of_it(
    setting: Setting, clock: VirtualClock
) -> None:
    gone: list[Key] = []

    async def on_gone(key: Key) -> None:
        gone.append(key)

    queue, workers = hands_for(setting, on_gone=on_gone)
    running = asyncio.create_task(workers.run(1))
    queue.add_after(setting.key(), 500.0, Urgency.PERIOD)
    queue.add(setting.key(), Urgency.EDIT)
    await clock.rest()

    assert gone == [setting.key()]
    assert queue.snapshot().delayed == 0
    await workers.drain(0.0)
    await running


async def test_events_during_a_run_make_one_more_run_and_never_two_at_once(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run, GOOD)
    async with working(setting, max_runs=4) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await run.began.wait()
        for _ in range(20):
            queue.add(setting.key(), Urgency.DEPENDENT)
            await clock.rest()
        assert len(setting.runner.requests) == 1
        run.end(GOOD)
        await clock.rest()

        assert len(setting.runner.requests) == 2
        assert setting.runner.doubled == []


async def test_bug_costs_one_key_one_turn_and_is_reported(
    setting: Setting, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await setting.shop.create("broken")
    await setting.shop.create("fine")

    async def bug(request: RunRequest) -> None:
        if request.cr["metadata"]["name"] == "broken":
            raise ZeroDivisionError("of all things")

    setting.runner.will(bug)
    async with working(setting, max_runs=1) as (queue, _):
        with caplog.at_level(logging.ERROR):
            queue.add(setting.key("broken"), Urgency.EDIT)
            queue.add(setting.key("fine"), Urgency.EDIT)
            await clock.rest()

        assert (await setting.reported("Successful", "fine"))[0] == "True"
        assert "internal error" in (await setting.reported("Failure", "broken"))[2]
        assert queue.snapshot().backing_off == 1
    traces = [record for record in caplog.records if record.exc_info]
    assert len(traces) == 1


async def test_kept_things_that_cannot_be_removed_are_tried_again(
    setting: Setting, clock: VirtualClock
) -> None:
    tries = 0

    async def on_gone(_: Key) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError("busy")

    queue, workers = hands_for(setting, on_gone=on_gone)
    running = asyncio.create_task(workers.run(1))
    queue.add(setting.key(), Urgency.EDIT)
    await clock.advance(0.1)

    assert tries == 2
    await workers.drain(0.0)
    await running


async def test_stopping_waits_for_runs_and_takes_no_new_keys(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    await setting.shop.create("b")
    run = LongRun()
    setting.runner.will(run, GOOD)
    queue, workers = hands_for(setting, max_runs=1)
    running = asyncio.create_task(workers.run(1))
    queue.add(setting.key(), Urgency.EDIT)
    await run.began.wait()
    queue.add(setting.key("b"), Urgency.EDIT)
    stopping = asyncio.create_task(workers.drain(30.0))
    await clock.advance(20.0)
    assert not stopping.done()

    run.end(GOOD)
    await stopping
    await running

    assert (await setting.reported("Successful"))[0] == "True"
    assert len(setting.runner.requests) == 1


async def test_run_that_ends_within_a_short_patience_is_left_to_end(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run)
    queue, workers = hands_for(setting)
    running = asyncio.create_task(workers.run(1))
    queue.add(setting.key(), Urgency.EDIT)
    await run.began.wait()

    stopping = asyncio.create_task(workers.drain(0.5))
    await clock.advance(0.4)
    run.end(GOOD)
    await stopping
    await running

    assert (await setting.reported("Successful"))[0] == "True"


async def test_stopping_ends_runs_that_take_too_long(setting: Setting, clock: VirtualClock) -> None:
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run)
    queue, workers = hands_for(setting)
    running = asyncio.create_task(workers.run(2))
    queue.add(setting.key(), Urgency.EDIT)
    await run.began.wait()

    stopping = asyncio.create_task(workers.drain(30.0))
    await clock.advance(30.0)
    await stopping
    await running

    assert (await setting.reported("Running"))[:2] == ("False", "Cancelled")
    assert setting.runner.in_flight == []


async def test_stopping_cancels_turns_that_hang_elsewhere(
    setting: Setting, shop: Shop, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = asyncio.Event()

    async def hangs(*_: object) -> dict[str, object]:
        await never.wait()
        return {}

    monkeypatch.setattr(shop.cluster, "get", hangs)
    queue, workers = hands_for(setting)
    running = asyncio.create_task(workers.run(2))
    queue.add(setting.key(), Urgency.EDIT)
    await clock.rest()

    stopping = asyncio.create_task(workers.drain(0.0))
    await clock.advance(10.0)
    await stopping
    await running

    assert not queue.snapshot().in_hand[setting.watch.gvk]
