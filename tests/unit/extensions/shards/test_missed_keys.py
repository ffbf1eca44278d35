"""Edits and deletions of CRs while their keys are another replica's, or on their way to this one."""

from __future__ import annotations

from rolecall.settings import ElectionSettings
from rolecall.workqueue import DELETION, EDIT, START, Urgency
from tests.unit.extensions.shards.sharing_world import PATIENCE_S, World, in_shard

REMEMBERED_S = PATIENCE_S + 2 * ElectionSettings().lease_s
FIRST, SECOND, *_ = in_shard(1)


async def test_keys_that_come_here_are_queued_as_after_a_start() -> None:
    world = World()
    await world.gain(1)
    assert world.urgencies() == dict.fromkeys(in_shard(1), (Urgency.STARTUP, str(START)))
    await world.sharing.close()


async def test_shard_that_went_again_meanwhile_queues_nothing() -> None:
    world = World()
    world.sharing.leave_to_others(FIRST, Urgency.EDIT, EDIT)
    world.sharing.gained(frozenset({1}))
    await world.settle()
    assert world.waiting() == set()
    await world.sharing.close()


async def test_cr_that_went_while_its_key_changed_hands_is_not_forgotten() -> None:
    world = World()
    del world.known[FIRST.gvk][FIRST.namespace, FIRST.name]
    for key, cause in ((FIRST, DELETION), (in_shard(2)[0], DELETION), (SECOND, EDIT)):
        world.sharing.leave_to_others(key, Urgency.EDIT, cause)
    await world.clock.advance(REMEMBERED_S / 2)

    await world.gain(1)

    urgent = {
        key: reported for key, reported in world.urgencies().items() if reported[0] is Urgency.EDIT
    }
    assert urgent == {FIRST: (Urgency.EDIT, str(DELETION)), SECOND: (Urgency.EDIT, str(EDIT))}
    await world.sharing.close()


async def test_edit_that_waited_elsewhere_goes_first_here_too() -> None:
    """It waited behind all that came along with it, 90 s once."""
    world = World()
    world.sharing.leave_to_others(SECOND, Urgency.EDIT, EDIT)
    await world.gain(1)
    assert world.urgencies()[SECOND] == (Urgency.EDIT, str(EDIT))
    assert world.urgencies()[FIRST] == (Urgency.STARTUP, str(START))
    await world.sharing.close()


async def test_what_only_dependents_ask_for_does_not_go_first_elsewhere() -> None:
    world = World()
    world.sharing.leave_to_others(FIRST, Urgency.DEPENDENT, EDIT)
    await world.gain(1)
    assert world.urgencies()[FIRST] == (Urgency.STARTUP, str(START))
    await world.sharing.close()


async def test_edit_whose_key_went_and_came_back_goes_first_again() -> None:
    world = World()
    await world.gain(1)
    world.queue.add(FIRST, Urgency.EDIT, EDIT)

    world.held.clear()
    world.sharing.lost(frozenset({1}), "its Lease was taken away")
    assert world.waiting() == set()

    await world.gain(1)
    assert world.urgencies()[FIRST] == (Urgency.EDIT, str(EDIT))
    await world.sharing.close()


async def test_cr_that_went_long_ago_is_its_holders_affair_and_takes_no_memory() -> None:
    world = World()
    world.known[FIRST.gvk].clear()
    world.sharing.leave_to_others(FIRST, Urgency.EDIT, DELETION)
    await world.clock.advance(REMEMBERED_S + 1)
    world.held.add(1)
    world.sharing.gained(frozenset({1}))
    await world.settle()
    assert world.waiting() == set()
    await world.sharing.close()


async def test_key_that_is_added_while_its_shard_leaves_waits_at_the_next_holder_only() -> None:
    world = World()
    await world.gain(1)
    world.held.clear()
    world.sharing.leaving(frozenset({1}))
    world.sharing.leave_to_others(FIRST, Urgency.EDIT, EDIT)
    assert world.waiting() == set()
    await world.sharing.close()
