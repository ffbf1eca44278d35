"""Turns that end in another way than with a verdict: by a bug of ours, or put off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.workqueue import Urgency
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import Setting, working
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_bug_that_cannot_be_reported_costs_its_turn_and_nothing_else(
    setting: Setting, clock: VirtualClock, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    await setting.shop.create("broken")
    await setting.shop.create("fine")
    read = fake.get

    async def reads_nonsense(gvk: Gvk, namespace: str, name: str) -> Any:
        if name == "broken":
            raise ZeroDivisionError("of all things")
        return await read(gvk, namespace, name)

    monkeypatch.setattr(fake, "get", reads_nonsense)
    async with working(setting, max_runs=1) as (queue, _):
        queue.add(setting.key("broken"), Urgency.EDIT)
        await clock.rest()
        assert queue.snapshot().backing_off == 1
        queue.add(setting.key("fine"), Urgency.EDIT)
        await clock.rest()
        assert (await setting.reported("Successful", "fine"))[0] == "True"


async def test_turn_that_cannot_be_put_back_is_tried_again_and_ends_no_worker(
    setting: Setting, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await setting.shop.create()
    counts = setting.telemetry.reconcile_finished
    calls = 0

    def breaks_once(*what: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ZeroDivisionError("of all things")
        counts(*what)

    monkeypatch.setattr(setting.telemetry, "reconcile_finished", breaks_once)
    async with working(setting, max_runs=1) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(0.1)
        assert len(setting.runner.requests) == 2
        assert setting.telemetry.turns == ["requeue_after"]
        assert not queue.snapshot().in_hand[setting.watch.gvk]


async def test_turn_that_ran_nothing_leaves_the_backoff_of_a_failing_key_alone(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    unsettled = replace(GOOD, changed_tasks=("tasks/main.yml:1: apply",))
    setting.runner.will(*[unsettled] * 5, *[BAD] * 20)
    async with working(setting, max_runs=1) as (queue, _):
        for _ in range(5):
            queue.add(setting.key(), Urgency.EDIT)
            await clock.rest()
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)
        failed_before = len(setting.runner.requests)
        for _ in range(10):  # each is put off, since the CR does not settle
            queue.add(setting.key(), Urgency.DEPENDENT)
            await clock.rest()
        assert len(setting.runner.requests) == failed_before
        assert queue.snapshot().backing_off == 1
        setting.may_run = False  # put back, since another may lead
        queue.add(setting.key(), Urgency.EDIT)
        await clock.rest()
        assert queue.snapshot().backing_off == 1
        setting.may_run = True
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(6.0)  # a backoff that began anew would have come three times by now
        assert len(setting.runner.requests) == failed_before + 2
