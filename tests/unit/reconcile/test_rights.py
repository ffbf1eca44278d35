"""A turn is taken under the right to act for its CR; without one, the key is another replica's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from rolecall.acting import RightToAct, current_hand
from rolecall.election import Election
from rolecall.runner import RunRequest, RunResult
from rolecall.workqueue import Key, Queue, Urgency
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import LongRun, Setting, hands_for
from tests.unit.workqueue.virtual_clock import VirtualClock


class Hands(Election):
    """The election of a replica whose rights a test gives and takes."""

    def __init__(self) -> None:
        self.is_ours = True
        self.given_back: list[Key] = []

    def may_write(self) -> bool:
        return self.is_ours

    def hand_for(self, _key: Key) -> RightToAct | None:
        return self if self.is_ours else None

    def put_down(self, key: Key) -> None:
        self.given_back.append(key)


@asynccontextmanager
async def divided(setting: Setting, hands: Hands) -> AsyncIterator[Queue]:
    queue, workers = hands_for(setting, election=hands)
    running = asyncio.create_task(workers.run(2))
    try:
        yield queue
    finally:
        await workers.drain(0.0)
        await running


async def test_run_is_made_under_the_right_to_act_for_its_cr(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    hands, seen = Hands(), list[RightToAct | None]()

    async def look(_: RunRequest) -> RunResult:
        seen.append(current_hand())
        return GOOD

    setting.runner.will(look)
    async with divided(setting, hands) as queue:
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)
    assert seen == [hands]


async def test_key_of_another_replica_leaves_the_queue_and_never_comes_back(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    hands = Hands()
    hands.is_ours = False
    async with divided(setting, hands) as queue:
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(100_000.0)

        assert setting.runner.requests == []
        assert hands.given_back == [setting.key()]
        assert (queue.waiting(), queue.delayed(), queue.in_hand()) == ([], [], [])


async def test_lost_run_is_frozen_ended_not_reported_and_not_retried(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    hands, run = Hands(), LongRun()
    setting.runner.will(run)
    async with divided(setting, hands) as queue:
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)
        assert run.began.is_set()
        reported = (await setting.shop.get())["status"]

        hands.is_ours = setting.may_run = False
        assert setting.reconciler.lose_runs_of(lambda _: True, "the shard was lost") == 1
        await clock.advance(100_000.0)

        assert setting.runner.runs[0].is_frozen
        assert setting.runner.in_flight == []
        assert (await setting.shop.get())["status"] == reported
        assert setting.events.reasons == []
        assert (queue.waiting(), queue.delayed(), queue.in_hand()) == ([], [], [])
        assert len(setting.runner.requests) == 1


async def test_run_of_another_key_goes_on_where_one_is_lost(setting: Setting) -> None:
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run)
    turn = asyncio.create_task(setting.turn())
    await run.began.wait()

    assert setting.reconciler.lose_runs_of(lambda key: key.name == "b", "lost") == 0

    run.end(GOOD)
    assert not (await turn).is_put_off
    assert not setting.runner.runs[0].is_frozen


async def test_run_whose_shard_is_handed_over_ends_as_cancelled_and_says_so(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    hands, run = Hands(), LongRun()
    setting.runner.will(run)
    async with divided(setting, hands) as queue:
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)

        setting.reconciler.end_runs_of(lambda _: True, "its shard is handed over")
        hands.is_ours = False  # no turn begins any more, but this one may report
        await clock.advance(10.0)

        _, _, message = await setting.reported("Running")
        assert "its shard is handed over" in message
        assert not setting.runner.runs[0].is_frozen
        assert (queue.waiting(), queue.delayed(), queue.in_hand()) == ([], [], [])


async def test_what_is_remembered_of_a_key_is_forgotten_where_another_replica_had_it(
    setting: Setting,
) -> None:
    await setting.shop.create()
    key = setting.key()
    for _ in range(6):  # a task that changes something in every run
        setting.runner.will(replace(GOOD, changed_tasks=("tasks/main.yml:1: apply",)))
        await setting.turn()
    assert (await setting.turn(urgency=Urgency.DEPENDENT)).is_put_off

    setting.reconciler.forget_of(lambda each: each == key)

    assert not (await setting.turn(urgency=Urgency.DEPENDENT)).is_put_off


async def test_failure_before_another_replica_had_the_key_makes_no_recovery_here(
    setting: Setting,
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD, GOOD)
    await setting.turn()

    setting.reconciler.forget_of(setting.key().__eq__)
    await setting.shop.patch({"status": None}, subresource="status")  # as if the other one said so
    await setting.turn()

    assert setting.events.reasons == ["Failed", "Succeeded"]
