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
from tests.unit.reconcile.stage import LongRun, Stage
from tests.unit.workqueue.virtual_clock import VirtualClock


async def started(stage: Stage, run: LongRun) -> asyncio.Task[Outcome]:
    """A turn whose run is in flight."""
    stage.runner.will(run, GOOD)
    turn = asyncio.ensure_future(stage.turn())
    await run.began.wait()
    return turn


async def settle(stage: Stage) -> None:
    assert isinstance(stage.clock, VirtualClock)
    await stage.clock.rest()


@pytest.mark.parametrize("allowed", [True, False])
async def test_edit_cancels_the_run_only_where_the_watch_allows_it(
    shop: Shop, clock: VirtualClock, allowed: bool
) -> None:
    stage = Stage(shop, watch_of(cancel_on_change=allowed), clock)
    await shop.create()
    run = LongRun()
    turn = await started(stage, run)

    await shop.patch({"spec": {"size": 2}})
    stage.reconciler.notice(stage.key())
    await settle(stage)

    assert turn.done() == allowed
    if not allowed:
        run.end(GOOD)
    outcome = await turn
    assert (outcome.urgency is Urgency.EDIT) == allowed
    assert len(stage.telemetry.runs) == (0 if allowed else 1)


async def test_cancelled_run_says_so_and_is_no_failure(shop: Shop, clock: VirtualClock) -> None:
    stage = Stage(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()
    turn = await started(stage, LongRun())
    await shop.patch({"spec": {"size": 2}})
    stage.reconciler.notice(stage.key())

    outcome = await turn

    assert outcome.after_s == 0.0
    assert outcome.ran["outcome"] == "cancelled"
    message = "Run 1 was ended: generation 2 takes its place"
    assert await stage.told("Running") == ("False", "Cancelled", message)
    assert await stage.condition("Failure") is None
    assert "observedGeneration" not in (await shop.get())["status"]


async def test_deletion_cancels_the_run_where_the_watch_allows_it(
    shop: Shop, clock: VirtualClock
) -> None:
    stage = Stage(shop, watch_of(with_finalizer=True, cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(stage, LongRun())
    await shop.delete()
    stage.reconciler.notice(stage.key())

    await turn
    await stage.turn()

    assert [request.is_finalizer for request in stage.runner.requests] == [False, True]


async def test_object_that_is_gone_cancels_the_run(shop: Shop, clock: VirtualClock) -> None:
    stage = Stage(shop, watch_of(cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(stage, LongRun())
    await shop.delete()
    stage.reconciler.notice(stage.key())

    assert (await turn).after_s == 0.0
    assert await stage.turn() == Outcome(forget=True)


async def test_finalizer_run_is_not_cancelled_by_its_own_deletion(
    shop: Shop, clock: VirtualClock
) -> None:
    watch = watch_of(with_finalizer=True, cancel_on_delete=True, cancel_on_change=True)
    stage = Stage(shop, watch, clock)
    await shop.create(finalizers=[FINALIZER])
    await shop.delete()
    run = LongRun()
    turn = await started(stage, run)
    await shop.patch({"spec": {"size": 2}})
    stage.reconciler.notice(stage.key())
    await settle(stage)
    assert not turn.done()

    run.end(GOOD)
    await turn

    assert await stage.turn() == Outcome(forget=True)


async def test_notice_about_nothing_new_cancels_nothing(shop: Shop, clock: VirtualClock) -> None:
    stage = Stage(shop, watch_of(cancel_on_change=True, cancel_on_delete=True), clock)
    await shop.create()
    run = LongRun()
    turn = await started(stage, run)
    for _ in range(3):
        stage.reconciler.notice(stage.key())
        await settle(stage)

    run.end(GOOD)

    assert not (await turn).is_error
    assert (await stage.told("Successful"))[0] == "True"


async def test_notice_that_came_before_the_run_started_is_not_lost(
    shop: Shop, clock: VirtualClock, fake: FakeCluster
) -> None:
    stage = Stage(shop, watch_of(cancel_on_change=True), clock)
    await shop.create()

    async def edited_after_the_read(verb: str, subresource: str) -> None:
        fake.intruder = None
        stage.reconciler.notice(stage.key())

    fake.intruder = edited_after_the_read
    run = LongRun()
    turn = await started(stage, run)
    await settle(stage)
    assert not turn.done()
    await shop.patch({"spec": {"size": 2}})
    stage.reconciler.notice(stage.key())

    assert (await turn).ran["outcome"] == "cancelled"


async def test_notice_is_followed_up_again_when_the_api_server_was_silent(
    shop: Shop, clock: VirtualClock, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(shop, watch_of(cancel_on_delete=True), clock)
    await shop.create()
    turn = await started(stage, LongRun())
    await shop.delete()

    async def silent(*_: Any) -> Any:
        raise UnavailableError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(fake, "get", silent)
        stage.reconciler.notice(stage.key())
        await settle(stage)
    assert not turn.done()
    stage.reconciler.notice(stage.key())

    assert (await turn).ran["outcome"] == "cancelled"


async def test_stopping_engine_ends_runs_and_starts_no_more(stage: Stage) -> None:
    await stage.shop.create()
    await stage.shop.create("b")
    turn = await started(stage, LongRun())

    stage.reconciler.cancel_runs("the engine is stopping")
    await turn
    await stage.turn("b")

    assert len(stage.runner.requests) == 1
    for name in ("a", "b"):
        status, reason, message = await stage.told("Running", name)
        assert (status, reason) == ("False", "Cancelled")
        assert message.endswith("was ended: the engine is stopping")


async def test_runs_that_are_interrupted_end_and_others_may_start_later(stage: Stage) -> None:
    await stage.shop.create()
    await stage.shop.create("b")
    turn = await started(stage, LongRun())

    stage.reconciler.interrupt_runs("this replica may not lead now")
    assert (await turn).ran["outcome"] == "cancelled"
    await stage.turn("b")

    assert len(stage.runner.requests) == 2


async def test_run_that_is_just_starting_when_the_engine_stops_is_ended_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.shop.create()
    stage.runner.will(LongRun())
    start = stage.runner.start

    async def start_as_the_engine_stops(*arguments: Any) -> Any:
        stage.reconciler.cancel_runs("the engine is stopping")
        return await start(*arguments)

    monkeypatch.setattr(stage.runner, "start", start_as_the_engine_stops)

    assert (await stage.turn()).ran["outcome"] == "cancelled"


async def test_turn_that_is_cancelled_takes_its_run_and_its_access_along(stage: Stage) -> None:
    await stage.shop.create()
    turn = await started(stage, LongRun())
    assert stage.access.live == ["1"]

    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    await settle(stage)

    assert turn.cancelled()
    assert stage.access.live == []
    assert stage.runner.in_flight == []
