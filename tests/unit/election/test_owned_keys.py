"""Only keys of this replica wait in its queue."""

from __future__ import annotations

from rolecall.acting import RightToAct
from rolecall.election import Election, OwnedKeys
from rolecall.workqueue import EDIT, PERSON, START, Cause, Key, Queue, Urgency
from tests.unit.workqueue.keys import key, queue_of, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock


class World(Election):
    """A queue, and what of the keys is ours."""

    def __init__(self) -> None:
        self.queue: Queue = queue_of(VirtualClock())
        self.ours: set[str] = set()
        self.edited: list[Key] = []
        self.foreign: list[Key] = []
        self.left: list[Key] = []
        self.keys = OwnedKeys(
            self.queue, self, on_edited=self.edited.append, drop_brought=self.foreign.append
        )

    def waiting(self) -> dict[str, tuple[Urgency, str]]:
        return {each.key.name: (each.urgency, str(each.cause)) for each in self.queue.waiting()}

    def hand_for(self, asked: Key) -> RightToAct | None:
        return self if asked.name in self.ours else None

    def leave_to_others(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        assert (urgency, cause) in ((Urgency.EDIT, EDIT), (Urgency.STARTUP, START))
        self.left.append(key)


async def test_only_our_keys_wait_and_of_others_nothing_is_kept() -> None:
    world = World()
    world.ours = {"a"}
    for name in ("a", "b"):
        world.keys.add(key(name), Urgency.EDIT, EDIT)

    assert world.waiting() == {"a": (Urgency.EDIT, "edit")}
    assert world.foreign == world.left == [key("b")]


async def test_what_the_first_list_brought_is_kept_until_it_is_clear_what_is_ours() -> None:
    world = World()
    world.keys.add(key("b"), Urgency.STARTUP, START)
    assert world.waiting() == {}
    assert world.foreign == []
    assert world.left == [key("b")]


async def test_edit_of_a_key_that_is_handed_over_still_reaches_its_run() -> None:
    world = World()
    world.keys.add(key("b"), Urgency.EDIT, EDIT)
    world.ours = {"b"}
    world.keys.add(key("b"), Urgency.DEPENDENT, EDIT)
    assert world.edited == [key("b")]


async def test_persons_wish_for_a_key_of_another_replica_is_not_queued_here() -> None:
    world = World()
    world.ours = {"a"}
    for name in ("a", "b"):
        world.keys.add_at_once(key(name), PERSON)
    assert set(world.waiting()) == {"a"}


async def test_one_replica_has_all_keys() -> None:
    queue = queue_of(VirtualClock())
    OwnedKeys(queue, Election(), on_edited=lambda _: None).add(key("a"), Urgency.EDIT, EDIT)
    assert waiting(queue) == 1
