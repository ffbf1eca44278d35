"""What follows where a shard comes, leaves or is lost."""

from __future__ import annotations

import asyncio

from rolecall.extensions.shards import Hand
from rolecall.settings import ElectionSettings
from rolecall.workqueue import part_of
from tests.unit.extensions.shards.sharing_world import (
    ALL,
    COUNT,
    KEYS,
    PATIENCE_S,
    World,
    in_shard,
)


async def test_keys_of_a_shard_that_comes_are_queued_and_what_was_remembered_is_not_believed() -> (
    None
):
    world = World()
    await world.gain(1, 2)
    assert world.waiting() == {*in_shard(1), *in_shard(2)}
    assert set(world.runs.forgotten) == world.waiting()
    assert world.kept.forgotten == [1, 2]
    await world.clock.advance(ElectionSettings().lease_s)
    kept = len(in_shard(1)) + len(in_shard(2))
    assert world.reported == [f"kept {kept}"], "by then it is clear what is ours"


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

    running = asyncio.create_task(world.sharing.singletons.run(work))
    await world.clock.rest()
    assert (begun, world.sharing.is_busy(0), world.reported) == (["work"], True, ["first"])

    world.held.clear()
    world.sharing.leaving(frozenset({0}))
    await world.clock.rest()

    assert not world.sharing.is_busy(0)
    assert world.reported == ["first", "first"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await world.sharing.close()


async def test_only_runs_of_the_last_minute_are_counted() -> None:
    world = World()
    now = world.clock.monotonic()
    world.sharing.note_runs([now, now])
    assert world.sharing.runs_per_minute() == 2.0
    await world.clock.advance(61.0)
    assert world.sharing.runs_per_minute() == 0.0
