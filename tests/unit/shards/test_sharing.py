"""What follows where a shard comes, leaves or is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import cast

from rolecall.acting import RightToAct
from rolecall.election import Election
from rolecall.metrics import EngineMetrics
from rolecall.reconcile import Outcome, Reconciler
from rolecall.runner import Ending, RunResult
from rolecall.settings import ElectionSettings, ShardSettings
from rolecall.shards import Hand
from rolecall.shards.first_work import FirstWork
from rolecall.shards.shared_keys import SharedKeys
from rolecall.shards.sharing import Sharing, SharingParts
from rolecall.supervisor import Supervisor
from rolecall.workqueue import EDIT, Key, Urgency, part_of
from tests.fixtures.eventually import eventually_async
from tests.unit.workqueue.keys import APP, key, queue_of
from tests.unit.workqueue.virtual_clock import VirtualClock

COUNT = 4
PATIENCE_S = 30.0
KEYS = [key(f"x{number}") for number in range(20)]
ALL = frozenset(range(COUNT))


def in_shard(shard: int) -> list[Key]:
    return [each for each in KEYS if part_of(each, COUNT) == shard]


@dataclass
class Runs:
    """A reconciler that notes what it is told."""

    ended: list[Key] = field(default_factory=list)
    lost: list[Key] = field(default_factory=list)
    forgotten: list[Key] = field(default_factory=list)

    def end_runs_of(self, is_meant: Callable[[Key], bool], reason: str) -> None:
        assert reason
        self.ended += filter(is_meant, KEYS)

    def lose_runs_of(self, is_lost: Callable[[Key], bool], reason: str) -> int:
        assert reason
        self.lost += filter(is_lost, KEYS)
        return 1

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self.forgotten += filter(is_meant, KEYS)


@dataclass
class Kept:
    """What is kept in parts."""

    unwritten: set[int] = field(default_factory=set)
    forgotten: list[int] = field(default_factory=list)

    def has_unwritten(self, part: int) -> bool:
        return part in self.unwritten

    async def write_parts(self, parts: Collection[int]) -> None:
        self.unwritten -= set(parts)

    def forget_parts(self, parts: Collection[int]) -> None:
        self.forgotten += parts


@dataclass(frozen=True)
class Memo:
    is_selected: bool = True


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.queue = queue_of(self.clock, max_runs=8)
        self.held: set[int] = set()
        self.runs, self.kept, self.first = Runs(), Kept(), FirstWork()
        self.told: list[str] = []
        self.posting_for: Hand | None = None
        settings = ShardSettings(COUNT, patience_s=PATIENCE_S)
        self.sharing = Sharing(settings, Supervisor(self.clock), self.first)
        known = {APP: {(each.namespace, each.name): Memo() for each in KEYS}}
        known[APP]["default", "unselected"] = Memo(is_selected=False)
        self.keys = SharedKeys(self.queue, self.hand_for, self.clock, 60.0)
        self.sharing.connect(
            SharingParts(
                keys=self.keys,
                queue=self.queue,
                reconciler=cast(Reconciler, self.runs),
                known=lambda: known,
                metrics=EngineMetrics("1"),
                kept=self.kept,
                remembering=(self.runs,),
                on_first=lambda: self.told.append("first"),
                posting_for=lambda: self.posting_for,
                drop_foreign=lambda: self.told.append("drop foreign"),
            )
        )

    def hand_for(self, asked: Key) -> RightToAct | None:
        return Election() if part_of(asked, COUNT) in self.held else None

    async def gain(self, *shards: int) -> None:
        self.held |= set(shards)
        self.sharing.gained(frozenset(shards))
        keys = {each for shard in shards for each in in_shard(shard)}

        async def are_queued() -> bool:  # known keys are listed in a thread
            return keys <= self.waiting()

        await eventually_async(are_queued)

    def waiting(self) -> set[Key]:
        return {each.key for each in self.queue.waiting()}


async def test_keys_of_a_shard_that_comes_are_queued_and_what_was_remembered_is_not_believed() -> (
    None
):
    world = World()
    await world.gain(1, 2)
    assert world.waiting() == {*in_shard(1), *in_shard(2)}
    assert set(world.runs.forgotten) == world.waiting()
    assert world.kept.forgotten == [1, 2]
    await world.clock.advance(ElectionSettings().lease_s)
    assert world.told == ["drop foreign"], "by then it is clear what is ours"


async def test_shard_that_leaves_is_busy_until_its_keys_are_put_down_and_all_is_written() -> None:
    world = World()
    await world.gain(*ALL)
    turns = [await world.queue.take() for _ in range(8)]
    mine = [turn.key for turn in turns if part_of(turn.key, COUNT) == 1]
    world.kept.unwritten = {1}

    world.held.discard(1)
    world.sharing.leaving(frozenset({1}))

    assert not world.waiting() & set(in_shard(1))
    assert world.sharing.is_busy(1)
    await world.clock.rest()
    assert world.kept.unwritten == set()
    for each in mine:
        assert world.sharing.is_busy(1)
        world.queue.done(each)
        world.sharing.put_down(each)
    assert not world.sharing.is_busy(1)
    assert world.runs.lost == []
    await world.sharing.close()


async def test_runs_of_a_shard_that_leaves_are_ended_shortly_before_patience_is_over() -> None:
    world = World()
    await world.gain(1)
    turn = await world.queue.take()
    world.sharing.leaving(frozenset({1}))
    await world.clock.advance(PATIENCE_S / 2)
    assert world.runs.ended == []
    await world.clock.advance(PATIENCE_S / 2 - 1.0)
    assert world.runs.ended == in_shard(1)
    world.queue.done(turn.key)


async def test_shard_whose_run_had_to_be_ended_stays_until_what_that_sent_last_has_arrived() -> (
    None
):
    world = World()
    await world.gain(1)
    turn = await world.queue.take()
    world.sharing.leaving(frozenset({1}))
    await world.clock.advance(PATIENCE_S)
    world.queue.done(turn.key)
    world.sharing.put_down(turn.key)

    assert world.sharing.is_busy(1)
    await world.clock.advance(5.0)
    assert not world.sharing.is_busy(1)


async def test_shard_stays_while_an_event_about_one_of_its_crs_is_being_posted() -> None:
    world = World()
    await world.gain(1)
    world.sharing.leaving(frozenset({1}))
    await world.clock.rest()
    world.posting_for = Hand(1, lambda _: True)
    assert world.sharing.is_busy(1)
    world.posting_for = Hand(2, lambda _: True)
    assert not world.sharing.is_busy(1)
    await world.sharing.close()


async def test_shard_that_stays_after_all_keeps_its_runs_and_has_its_keys_queued_again() -> None:
    world = World()
    await world.gain(1)
    world.held.clear()
    world.sharing.leaving(frozenset({1}))
    assert world.waiting() == set()
    await world.clock.advance(PATIENCE_S / 2)
    await world.gain(1)
    await world.clock.advance(2 * PATIENCE_S)
    assert world.runs.ended == []
    assert world.waiting() == set(in_shard(1))


async def test_lost_shard_has_its_keys_dropped_and_its_runs_stopped_at_once() -> None:
    world = World()
    await world.gain(*ALL)
    world.held.discard(3)
    world.sharing.lost(frozenset({3}), "its Lease was taken away")
    assert world.runs.lost == in_shard(3)
    assert world.waiting() == {each for each in KEYS if part_of(each, COUNT) != 3}
    await world.sharing.close()


async def test_work_of_the_first_shard_keeps_it_until_it_has_ended() -> None:
    world = World()
    await world.gain(0)
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")
        await world.clock.sleep(1000.0)

    running = asyncio.create_task(world.first.run(work))
    await world.clock.rest()
    assert (begun, world.sharing.is_busy(0), world.told) == (["work"], True, ["first"])

    world.held.clear()
    world.sharing.leaving(frozenset({0}))
    await world.clock.rest()

    assert not world.sharing.is_busy(0)
    assert world.told == ["first", "first"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await world.sharing.close()


async def test_only_runs_of_the_last_minute_are_counted() -> None:
    world = World()
    run = Outcome(result=RunResult("1", Ending.FINISHED, 0))
    for outcome in (run, Outcome(), run):
        world.sharing.turn_over(outcome)
    assert world.sharing.runs_per_minute() == 2.0
    await world.clock.advance(61.0)
    assert world.sharing.runs_per_minute() == 0.0


async def test_key_that_is_added_while_its_shard_leaves_waits_at_the_next_holder_only() -> None:
    world = World()
    await world.gain(1)
    world.held.clear()
    world.sharing.leaving(frozenset({1}))
    world.keys.add(in_shard(1)[0], Urgency.EDIT, EDIT)
    assert world.waiting() == set()
    await world.sharing.close()
