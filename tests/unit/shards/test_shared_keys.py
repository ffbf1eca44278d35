"""Keys that are another replica's do not wait here; those that come here are found out about anew."""

from __future__ import annotations

import asyncio

from rolecall.acting import RightToAct
from rolecall.election import Election
from rolecall.shards.shared_keys import SharedKeys
from rolecall.workqueue import DELETION, EDIT, PERSON, START, Key, Queue, Urgency
from tests.unit.workqueue.keys import key, queue_of, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock

REMEMBERED_S = 60.0


class World:
    """A queue, and what of the keys is ours."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.queue: Queue = queue_of(self.clock)
        self.ours: set[str] = set()
        self.edited: list[Key] = []
        self.foreign: list[Key] = []
        self.keys = SharedKeys(self.queue, self._hand_for, self.clock, REMEMBERED_S)
        self.keys.on_edited = self.edited.append
        self.keys.on_foreign = self.foreign.append

    def gain(self, *names: str, known: tuple[str, ...] = ()) -> None:
        self.ours.update(names)
        self.keys.gained([key(name) for name in known], lambda each: each.name in names)

    def waiting(self) -> dict[str, tuple[Urgency, str]]:
        return {each.key.name: (each.urgency, str(each.cause)) for each in self.queue.waiting()}

    def _hand_for(self, asked: Key) -> RightToAct | None:
        return Election() if asked.name in self.ours else None


async def test_only_our_keys_wait_and_of_others_nothing_is_kept() -> None:
    world = World()
    world.ours = {"a"}
    for name in ("a", "b"):
        world.keys.add(key(name), Urgency.EDIT, EDIT)

    assert world.waiting() == {"a": (Urgency.EDIT, "edit")}
    assert world.foreign == [key("b")]


async def test_what_the_first_list_brought_is_kept_until_it_is_clear_what_is_ours() -> None:
    world = World()
    world.keys.add(key("b"), Urgency.STARTUP, START)
    assert world.waiting() == {}
    assert world.foreign == []


async def test_run_that_ends_while_its_key_is_handed_over_is_still_told_of_an_edit() -> None:
    world = World()
    world.keys.add(key("b"), Urgency.EDIT, EDIT)
    world.keys.add(key("b"), Urgency.DEPENDENT, EDIT)
    assert world.edited == [key("b")]


async def test_persons_wish_for_a_key_of_another_replica_is_not_queued_here() -> None:
    world = World()
    world.ours = {"a"}
    for name in ("a", "b"):
        world.keys.add_at_once(key(name), PERSON)
    assert set(world.waiting()) == {"a"}


async def test_keys_that_come_here_are_queued_as_after_a_start() -> None:
    world = World()
    world.gain("a", "b", known=("a", "b"))
    assert world.waiting() == {name: (Urgency.STARTUP, str(START)) for name in ("a", "b")}


async def test_shard_that_went_again_meanwhile_queues_nothing() -> None:
    world = World()
    world.keys.gained([key("a")], lambda _: True)
    assert world.waiting() == {}


async def test_cr_that_went_while_its_key_changed_hands_is_not_forgotten() -> None:
    world = World()
    world.keys.add(key("a"), Urgency.EDIT, DELETION)
    world.keys.add(key("b"), Urgency.EDIT, DELETION)
    world.keys.add(key("c"), Urgency.EDIT, EDIT)
    await world.clock.advance(REMEMBERED_S / 2)

    world.gain("a", "c", known=("c",))

    assert world.waiting() == {
        "a": (Urgency.EDIT, str(DELETION)),
        "c": (Urgency.EDIT, str(EDIT)),
    }


async def test_edit_that_waited_elsewhere_goes_first_here_too() -> None:
    """It waited behind all that came along with it, 90 s once."""
    world = World()
    world.keys.add(key("b"), Urgency.EDIT, EDIT)
    world.gain("a", "b", known=("a", "b"))
    assert world.waiting() == {
        "a": (Urgency.STARTUP, str(START)),
        "b": (Urgency.EDIT, str(EDIT)),
    }


async def test_edit_whose_key_went_and_came_back_goes_first_again() -> None:
    world = World()
    world.ours = {"a"}
    world.keys.add(key("a"), Urgency.EDIT, EDIT)

    world.ours = set()
    world.keys.drop(lambda _: True)
    assert world.waiting() == {}

    world.gain("a", known=("a",))
    assert world.waiting() == {"a": (Urgency.EDIT, str(EDIT))}


async def test_cr_that_went_long_ago_is_its_holders_affair_and_takes_no_memory() -> None:
    world = World()
    world.keys.add(key("a"), Urgency.EDIT, DELETION)
    await world.clock.advance(REMEMBERED_S + 1)
    world.gain("a")
    assert waiting(world.queue) == 0


async def test_one_replica_has_all_keys() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    SharedKeys(queue, Election().hand_for, clock).add(key("a"), Urgency.EDIT, EDIT)
    assert waiting(queue) == 1
    await asyncio.sleep(0)
