"""Runs that are ended early, where the watch allows it or the engine stops; and those that are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rolecall.kube import UnavailableError
from rolecall.reconcile import Outcome
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import GOOD, watch_of
from tests.unit.reconcile.setting import LongRun, Setting
from tests.unit.workqueue.virtual_clock import VirtualClock


async def started(setting: Setting, run: LongRun) -> asyncio.Task[Outcome]:
    """A turn whose run is in flight."""
    setting.runner.will(run, GOOD)
    turn = asyncio.ensure_future(setting.turn())
    await run.began.wait()
    return turn


async def settle(setting: Setting) -> None:
    assert isinstance(setting.clock, VirtualClock)
    await setting.clock.rest()


@pytest.mark.parametrize("allowed", [True, False])
async def test_edit_cancels_the_run_only_where_the_watch_allows_it(
    shop: Shop, clock: VirtualClock, allowed: bool
) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=allowed), clock)
    await shop.create()
    run = LongRun()
    turn = await started(setting, run)

    await shop.patch({"spec": {"size": 2}})
    setting.reconciler.on_edited(setting.key())
    await settle(setting)

    assert turn.done() == allowed
    if not allowed:
        run.end(GOOD)
    outcome = await turn
    assert (outcome.urgency is Urgency.EDIT) == allowed
    assert len(setting.telemetry.runs) == (0 if allowed else 1)


async def test_cancelled_run_says_so_and_is_no_failure(shop: Shop, clock: VirtualClock) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    await shop.patch({"spec": {"size": 2}})
    setting.reconciler.on_edited(setting.key())

    outcome = await turn

    assert outcome.after_s == 0.0
    assert outcome.ran["outcome"] == "cancelled"
    assert outcome.ran["why"] == "generation 2 replaces it"
    message = "Run 1 was stopped: generation 2 replaces it"
    assert await setting.reported("Running") == ("False", "Cancelled", message)
    assert await setting.condition("Failure") is None
    assert "observedGeneration" not in (await shop.get())["status"]


async def test_deletion_cancels_the_run_where_the_watch_allows_it(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(with_finalizer=True, cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    await shop.delete()
    setting.reconciler.on_edited(setting.key())

    await turn
    await setting.turn()

    assert [request.is_finalizer for request in setting.runner.requests] == [False, True]


async def test_object_that_is_gone_cancels_the_run(shop: Shop, clock: VirtualClock) -> None:
    setting = Setting(shop, watch_of(cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    await shop.delete()
    setting.reconciler.on_edited(setting.key())

    assert (await turn).after_s == 0.0
    assert await setting.turn() == Outcome(forget=True)


async def test_finalizer_run_is_not_cancelled_by_its_own_deletion(
    shop: Shop, clock: VirtualClock
) -> None:
    watch = watch_of(with_finalizer=True, cancel_on_delete=True, cancel_on_change=True)
    setting = Setting(shop, watch, clock)
    await shop.create(finalizers=[FINALIZER])
    await shop.delete()
    run = LongRun()
    turn = await started(setting, run)
    await shop.patch({"spec": {"size": 2}})
    setting.reconciler.on_edited(setting.key())
    await settle(setting)
    assert not turn.done()

    run.end(GOOD)
    await turn

    assert await setting.turn() == Outcome(forget=True)


async def test_notice_about_nothing_new_cancels_nothing(shop: Shop, clock: VirtualClock) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=True, cancel_on_delete=True), clock)
    await shop.create()
    run = LongRun()
    turn = await started(setting, run)
    for _ in range(3):
        setting.reconciler.on_edited(setting.key())
        await settle(setting)

    run.end(GOOD)

    assert not (await turn).is_error
    assert (await setting.reported("Successful"))[0] == "True"


async def test_notice_that_came_before_the_run_started_is_not_lost(
    shop: Shop, clock: VirtualClock, fake: FakeCluster
) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()

    async def edited_after_the_read(verb: str, subresource: str) -> None:
        fake.intruder = None
        setting.reconciler.on_edited(setting.key())

    fake.intruder = edited_after_the_read
    run = LongRun()
    turn = await started(setting, run)
    await settle(setting)
    assert not turn.done()
    await shop.patch({"spec": {"size": 2}})
    setting.reconciler.on_edited(setting.key())

    assert (await turn).ran["outcome"] == "cancelled"


async def test_notice_is_followed_up_again_when_the_api_server_was_silent(
    shop: Shop, clock: VirtualClock, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(shop, watch_of(cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    await shop.delete()

    async def silent(*_: Any) -> Any:
        raise UnavailableError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(fake, "get", silent)
        setting.reconciler.on_edited(setting.key())
        await settle(setting)
    assert not turn.done()
    setting.reconciler.on_edited(setting.key())

    assert (await turn).ran["outcome"] == "cancelled"


async def test_stopping_engine_ends_runs_and_starts_no_more(setting: Setting) -> None:
    await setting.shop.create()
    await setting.shop.create("b")
    turn = await started(setting, LongRun())

    setting.reconciler.cancel_runs("the operator is stopping")
    await turn
    await setting.turn("b")

    assert len(setting.runner.requests) == 1
    for name in ("a", "b"):
        status, reason, message = await setting.reported("Running", name)
        assert (status, reason) == ("False", "Cancelled")
        assert message.endswith("was stopped: the operator is stopping")


async def test_runs_that_are_interrupted_end_and_others_may_start_later(setting: Setting) -> None:
    await setting.shop.create()
    await setting.shop.create("b")
    turn = await started(setting, LongRun())

    setting.reconciler.interrupt_runs("this replica is not the leader now")
    assert (await turn).ran["outcome"] == "cancelled"
    await setting.turn("b")

    assert len(setting.runner.requests) == 2


async def test_run_that_is_just_starting_when_the_engine_stops_is_ended_too(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await setting.shop.create()
    setting.runner.will(LongRun())
    start = setting.runner.start

    async def start_as_the_engine_stops(*arguments: Any) -> Any:
        setting.reconciler.cancel_runs("the operator is stopping")
        return await start(*arguments)

    monkeypatch.setattr(setting.runner, "start", start_as_the_engine_stops)

    assert (await setting.turn()).ran["outcome"] == "cancelled"


async def test_turn_that_is_cancelled_takes_its_run_and_its_access_along(setting: Setting) -> None:
    await setting.shop.create()
    turn = await started(setting, LongRun())
    assert setting.access.live == ["1"]

    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    await settle(setting)

    assert turn.cancelled()
    assert setting.access.live == []
    assert setting.runner.in_flight == []


async def test_bug_while_a_notice_is_followed_up_costs_the_run_nothing(
    shop: Shop, clock: VirtualClock, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()
    run = LongRun()
    turn = await started(setting, run)
    read = fake.get

    async def reads_nonsense(*_: Any) -> Any:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(fake, "get", reads_nonsense)
    setting.reconciler.on_edited(setting.key())
    await settle(setting)
    monkeypatch.setattr(fake, "get", read)
    run.end(GOOD)
    outcome = await turn
    assert outcome.error == ""
    assert len(setting.telemetry.runs) == 1


async def test_notice_after_one_that_met_a_bug_is_followed_up(
    shop: Shop, clock: VirtualClock, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    with monkeypatch.context() as patched:
        patched.setattr(fake, "get", None)
        setting.reconciler.on_edited(setting.key())
        await settle(setting)

    await shop.patch({"spec": {"size": 2}})
    setting.reconciler.on_edited(setting.key())

    assert (await turn).ran["outcome"] == "cancelled"
