"""Replicas that divide shards among them, as the engine and people see it; time is virtual.

What may go wrong in all its combinations is in `model/`. Here is how long the usual takes, what it
costs, and what is said.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from rolecall.acting import acting_for
from rolecall.extensions.shards import Hand
from tests.unit.extensions.shards.model.model_world import HELD_WITHIN_S, ID, LEASE_S, ModelWorld
from tests.unit.extensions.shards.model.replica import Replica
from tests.unit.extensions.shards.worlds import begun, held, passed_until, reported


def test_first_start_ever_waits_for_one_lease_and_a_later_one_for_nothing() -> None:
    async def story(world: ModelWorld) -> None:
        (first,) = await begun(world, "a")
        assert LEASE_S <= world.now - 5.0 < LEASE_S + 3.0
        await first.leave()
        world.start("b")
        assert await world.settle() < 1.0

    reported(story)


def test_healthy_shard_is_handed_over_within_a_second_and_only_what_must_move_moves() -> None:
    async def story(world: ModelWorld) -> None:
        await begun(world, "a", "b")
        before = world.division()
        world.start("c")
        took_s = await passed_until(world, lambda: world.division() == world.rightful() != before)
        assert took_s < 1.0
        after = world.division()
        moved = {shard for shard in before if before[shard] != after[shard]}
        assert {after[shard] for shard in moved} == {"c"}

    reported(story, count=64)


def test_replica_that_leaves_is_followed_within_two_seconds_and_leaves_nothing_behind() -> None:
    async def story(world: ModelWorld) -> None:
        first, _ = await begun(world, "a", "b")
        before, began = world.division(), world.now
        await first.leave()
        await world.settle(2.0)
        assert world.now - began < 2.0
        after = world.division()
        assert all(after[shard] == "b" for shard in before)
        assert len([name for name in world.store.leases if "-member-" in name]) == 1

    reported(story, count=64)


def test_leaver_waits_for_its_runs_and_ends_them_when_patience_is_over() -> None:
    async def story(world: ModelWorld) -> None:
        first, _ = await begun(world, "a", "b")
        mine = [shard for shard, holder in world.division().items() if holder == "a"]
        first.runs.until = {mine[0]: world.now + 3.0, mine[1]: world.now + 1000.0}
        began = world.now
        leaving = asyncio.ensure_future(first.leave())
        await passed_until(world, lambda: world.holder_of(mine[2]) == "b", 2.0)
        assert first.election.is_ours(world.keys[mine[0]])
        assert first.election.hand_for(world.keys[mine[0]]) is None
        await passed_until(world, lambda: world.holder_of(mine[0]) == "b", 4.0)
        assert world.now - began >= 3.0
        await passed_until(world, lambda: world.holder_of(mine[1]) == "b", 30.0)
        # Its last writes may be under way for as long as lies between deadline and lease.
        assert world.now - began >= world.settings.patience_s + 5.0
        await leaving
        assert any(
            what.startswith("lost") and shards == {mine[1]} for what, shards in first.reported
        )

    reported(story, patience_s=6.0)


def test_killed_replica_is_followed_within_its_lease_and_two_seconds() -> None:
    async def story(world: ModelWorld) -> None:
        first, _ = await begun(world, "a", "b")
        first.is_dead = True
        await first.kill()
        assert await world.settle() < LEASE_S + 2.0

    reported(story)


def test_api_server_that_was_away_moves_nothing() -> None:
    async def story(world: ModelWorld) -> None:
        replicas = await begun(world, "a", "b", "c")
        before, members = world.division(), {n for n in world.store.leases if "-member-" in n}
        for replica in replicas:
            replica.faults.refusing = True
        await world.pass_time(60.0)
        assert world.unheld() == set(before)
        for replica in replicas:
            replica.faults.refusing = False
        await world.settle(5.0)
        await world.pass_time(LEASE_S)
        assert world.division() == before
        assert {n for n in world.store.leases if "-member-" in n} == members

    reported(story)


def test_member_that_is_gone_leaves_no_tombstone_for_ever() -> None:
    async def story(world: ModelWorld) -> None:
        first, _ = await begun(world, "a", "b")
        first.is_dead = True
        await first.kill()
        await world.pass_time(3 * LEASE_S)
        assert len([name for name in world.store.leases if "-member-" in name]) == 1

    reported(story)


@pytest.mark.slow
def test_ten_members_and_64_shards_at_rest_cost_six_writes_a_second() -> None:
    async def story(world: ModelWorld) -> None:
        await begun(world, *"abcdefghij")
        world.store.writes.clear()
        await world.pass_time(60.0)
        kinds = Counter(
            name.split("-")[1] if "-" in name else name for _, name in world.store.writes
        )
        assert set(kinds) == {"member", ID}
        assert len(world.store.writes) / 60.0 < 6.5

    reported(story, count=64)


def test_replicas_of_one_name_are_distinguished() -> None:
    async def story(world: ModelWorld) -> None:
        replicas = [Replica("twin", world.store, world.settings, world.gained) for _ in range(2)]
        world.replicas = {f"twin-{number}": replica for number, replica in enumerate(replicas)}
        await world.settle(2 * HELD_WITHIN_S)
        shares = [len(held(replica, world)) for replica in replicas]
        assert sum(shares) == world.count
        assert all(shares)

    reported(story)


def test_hand_of_an_earlier_time_stays_void_when_the_same_replica_takes_the_shard_again() -> None:
    async def story(world: ModelWorld) -> None:
        (only,) = await begun(world, "a")
        early = only.election.hand_for(world.keys[0])
        assert early is not None
        assert early.holds()
        only.faults.cut = True
        await world.pass_time(12.0)
        assert not early.holds()
        only.faults.cut = False
        await world.settle()
        late = only.election.hand_for(world.keys[0])
        assert late is not None
        assert late.holds()
        assert not early.holds()

    reported(story)


def test_engine_is_notified_at_the_deadline_that_its_shards_are_lost() -> None:
    async def story(world: ModelWorld) -> None:
        (only,) = await begun(world, "a")
        only.faults.cut = True
        assert await passed_until(world, lambda: bool(only.reported), 11.0) >= 10.0 - 2.3
        ((what, shards),) = only.reported
        assert shards == set(range(world.count))
        assert "could not be renewed in time" in what
        assert not only.election.may_write()

    reported(story)


def test_writes_are_asked_of_the_hand_under_which_they_are_made() -> None:
    async def story(world: ModelWorld) -> None:
        (only,) = await begun(world, "a")
        assert only.election.may_write()
        with acting_for(Hand(0, lambda _: False)):
            assert not only.election.may_write()
        with acting_for(only.election.hand_for(world.keys[0])):
            assert only.election.may_write()

    reported(story)


def test_work_of_which_there_is_one_is_done_by_one() -> None:
    async def story(world: ModelWorld) -> None:
        replicas = await begun(world, "a", "b", "c")
        firsts = [replica.name for replica in replicas if replica.election.leads()]
        assert firsts == [world.holder_of(0)]
        assert {replica.election.leader.rpartition("_")[0] for replica in replicas} == set(firsts)

    reported(story)


def test_who_waits_to_lead_waits_until_there_is_a_shard() -> None:
    async def story(world: ModelWorld) -> None:
        first, second = world.start("a"), world.start("b")
        waiting = [asyncio.ensure_future(each.election.wait_leading()) for each in (first, second)]
        await world.pass_time(10.0)
        assert not any(wait.done() for wait in waiting)
        await world.settle(HELD_WITHIN_S)
        await world.pass_time(5.0)
        assert all(wait.done() for wait in waiting)

    reported(story)


def test_replica_that_cannot_list_is_not_counted_on() -> None:
    async def story(world: ModelWorld) -> None:
        first, _ = await begun(world, "a", "b")
        first.faults.refused = frozenset({"list"})
        await passed_until(
            world, lambda: set(world.division().values()) == {"b"}, 2 * LEASE_S + 5.0
        )
        assert "could not be read" in first.election.view().why_not

    reported(story)
