"""Where replicas divide the CRs, a part of what is kept has one writer, and is read by who has it."""

from __future__ import annotations

from rolecall.acting import acting_for, current_hand
from rolecall.extensions.skip import CurrentReads, ProjectDigests, SkipFacts, SkipParts, Skips
from rolecall.workqueue import Key
from tests.unit.extensions.skip.conftest import APP, KEY, READ, World

OTHER = 3


def part_of(key: Key) -> int:
    return {KEY.name: 1, "other": OTHER}[key.name]


class ByWhom:
    """A right, and a store that notes by which right it was written."""

    def __init__(self, world: World) -> None:
        self.by: list[tuple[int, object]] = []
        self._write, world.store.write = world.store.write, self.write  # type: ignore[method-assign]

    def holds(self) -> bool:
        return True

    async def write(self, part: int, text: bytes) -> None:
        self.by.append((part, current_hand()))
        await self._write(part, text)


def divided(world: World) -> Skips:
    """As another replica, or the same one after a start."""
    facts = SkipFacts(world.versions, world.environment, SkipParts(8, part_of, are_divided=True))
    projects = ProjectDigests(lambda play: (play.path,), world.clock)
    reads = CurrentReads(world.api, world.clock)
    return Skips({APP: world.watch}, facts, reads, projects, world.store, world.clock)


async def test_part_is_written_by_the_right_of_the_turn_that_changed_it(world: World) -> None:
    world.skips, noted = divided(world), ByWhom(world)
    with acting_for(noted):
        await world.run(READ)
    assert world.skips.has_unwritten(1)
    await world.skips.write()
    assert noted.by == [(1, noted)]
    assert not world.skips.has_unwritten(1)


async def test_part_that_comes_is_read_and_reports_what_the_last_holder_knew(world: World) -> None:
    world.skips = divided(world)
    await world.run(READ)
    await world.skips.write_parts({1})

    world.skips = divided(world)

    assert await world.why()


async def test_part_that_went_and_came_back_is_read_anew(world: World) -> None:
    world.skips = divided(world)
    await world.run(READ)
    await world.skips.write()
    assert await world.why()
    world.store.parts.clear()  # what another replica left of it

    world.skips.forget_parts({1})

    assert not await world.why()


async def test_what_was_not_written_of_a_part_that_was_lost_is_never_written(world: World) -> None:
    world.skips, noted = divided(world), ByWhom(world)
    await world.run(READ)
    world.skips.forget_parts({1})
    await world.skips.write()
    assert noted.by == []


async def test_only_the_part_that_leaves_is_written_at_once(world: World) -> None:
    world.skips = divided(world)
    await world.run(READ)
    await world.skips.write_parts({OTHER})
    assert world.store.parts == {}
    await world.skips.write_parts({1, OTHER})
    assert set(world.store.parts) == {1}


async def test_rows_of_a_time_with_another_number_of_parts_are_not_taken(world: World) -> None:
    await world.run(READ)
    await world.skips.write()  # one engine, in parts of its own
    (text,) = world.store.parts.values()
    world.store.parts = {OTHER: text}
    world.skips = divided(world)
    assert not await world.why()
