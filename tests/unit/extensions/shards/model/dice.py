"""What may go wrong, drawn by a seed: the same seed is the same story.

Not drawn, because it is not promised: people who write what only we write (a release, the end of a
tenure, the text of the mode), and who put back what a Lease said earlier.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from rolecall.json_object import Json
from tests.unit.extensions.shards.model.edits import with_annotations, with_nonsense, with_spec
from tests.unit.extensions.shards.model.model_world import HELD_WITHIN_S, HUNG_S, ID, ModelWorld
from tests.unit.extensions.shards.model.replica import Replica
from tests.unit.extensions.shards.model.stories import report

_LATEST_S = 20.0
_LENGTHS_S = (0.5, 3.0, 6.0, 9.0, 11.0, 13.0, 16.0, 25.0)
Fault = Callable[["Game"], None]


class Game:
    """One world, and what happens in it."""

    def __init__(self, world: ModelWorld) -> None:
        self.world = world
        self.number = 0
        self.was_late = False
        self.tasks: list[asyncio.Task[Any]] = []

    def any_replica(self) -> Replica | None:
        living = self.world.living()
        return random.choice(living) if living else None

    def start(self, name: str = "") -> None:
        self.number += 1
        rate, weight = random.uniform(0.92, 1.08), random.choice((1, 4, 4, 16))
        self.world.start(name or f"r{self.number}", rate=rate, weight=weight)

    def for_a_while(self, replica: Replica, what: str, **faults: Any) -> None:
        seconds = random.choice(_LENGTHS_S)
        self.world.note(f"{replica.name} {what} for {seconds} s")
        for key, value in faults.items():
            setattr(replica.faults, key, value)

        async def mend() -> None:
            await asyncio.sleep(seconds)
            for key in faults:
                setattr(replica.faults, key, getattr(type(replica.faults)(), key))

        self.tasks.append(asyncio.ensure_future(mend()))

    def pause(self, replica: Replica) -> None:
        seconds = random.choice(_LENGTHS_S)
        self.world.note(f"{replica.name} is paused for {seconds} s")
        replica.pause()

        async def resume() -> None:
            await asyncio.sleep(seconds)
            self.world.note(f"{replica.name} goes on")
            replica.resume()

        self.tasks.append(asyncio.ensure_future(resume()))

    def a_lease(self, part: str) -> str:
        names = sorted(name for name in self.world.store.leases if part in name)
        return random.choice(names) if names else ""

    def edit(self, part: str, what: str, change: Callable[[Json], Json]) -> None:
        if name := self.a_lease(part):
            self.world.note(f"a person makes {name} {what}")
            self.world.store.edit(name, change)

    def delete(self, name: str) -> None:
        self.world.note(f"a person deletes {name}")
        if name in self.world.store.leases:
            self.world.store.delete(name)


def _kill(game: Game) -> None:
    if replica := game.any_replica():
        game.world.note(f"{replica.name} is killed")
        replica.is_dead = True
        game.tasks.append(asyncio.ensure_future(replica.kill()))


def _leave(game: Game) -> None:
    if (replica := game.any_replica()) and not replica.is_leaving:
        game.world.note(f"{replica.name} leaves")
        game.tasks.append(asyncio.ensure_future(replica.leave()))


def _start(game: Game) -> None:
    if len(game.world.living()) < 5:
        # Two may have one name.
        game.start(random.choice(("", "", "twin")) and f"twin-{game.number}")


def _pause(game: Game) -> None:
    if replica := game.any_replica():
        game.pause(replica)


def _while(what: str, **faults: Any) -> Fault:
    def begin(game: Game) -> None:
        if replica := game.any_replica():
            game.was_late = game.was_late or "late" in faults
            game.for_a_while(replica, what, **faults)

    return begin


def _turn_wall(game: Game) -> None:
    if replica := game.any_replica():
        replica.clock.wall_offset_s = random.choice((-86400.0, -30.0, 0.0, 30.0, 86400.0))


def _run(game: Game) -> None:
    if replica := game.any_replica():
        for shard in range(game.world.count):
            if game.world.holder_of(shard) == replica.name:
                replica.runs.until[shard] = game.world.now + random.uniform(0.5, 12.0)


def _delete_all(game: Game) -> None:
    for name in list(game.world.store.leases):
        game.delete(name)


def _name_another(game: Game) -> None:
    holders = [
        lease["spec"]["holderIdentity"]
        for name, lease in game.world.store.leases.items()
        if "-member-" in name and isinstance(lease.get("spec"), dict)
    ]
    if holders:
        game.edit("-shard-", "another's", with_spec(holderIdentity=random.choice(holders)))


FAULTS: dict[str, Fault] = {
    "kill": _kill,
    "leave": _leave,
    "start": _start,
    "pause": _pause,
    "cut": _while("is cut off", cut=True),
    "refuse": _while("is refused", refusing=True),
    "lose answers": _while("gets half of its answers", answers_lost=0.5),
    "late": _while("has late requests", late=0.3),
    "slow": _while("is far away", latency_s=1.2),
    "wall clock": _turn_wall,
    "runs": _run,
    "delete a member": lambda game: game.delete(game.a_lease("-member-")),
    "delete a shard": lambda game: game.delete(game.a_lease("-shard-")),
    "delete the mode": lambda game: game.delete(ID),
    "delete all": _delete_all,
    "clear a shard": lambda game: game.edit("-shard-", "empty", with_spec(holderIdentity="")),
    "clear a member": lambda game: game.edit("-member-", "empty", with_spec(holderIdentity="")),
    "name another": _name_another,
    "nonsense in a shard": lambda game: game.edit("-shard-", "nonsense", with_nonsense),
    "nonsense in a member": lambda game: game.edit(
        "-member-", "nonsense", with_spec(leaseDurationSeconds="x", holderIdentity=7)
    ),
    "another count": lambda game: game.edit(
        "-shard-", "of another count", with_annotations(**{"rolecall.dev/shards": "3"})
    ),
    "a note": lambda game: game.edit("-", "annotated", with_annotations(note="hello")),
}


async def play(
    world: ModelWorld, faults: list[str], *, times: int, replicas: int, most_s: float = 8.0
) -> None:
    """Let things go wrong, then let it be quiet: each shard has a holder in time, and keeps one."""
    game = Game(world)
    for _ in range(replicas):
        game.start()
    await world.settle(2 * HELD_WITHIN_S)
    for _ in range(times):
        FAULTS[random.choice(faults)](game)
        await world.pass_time(random.uniform(0.0, most_s))
    await asyncio.gather(*game.tasks)
    if not [replica for replica in world.living() if not replica.is_leaving]:
        game.start()
    await world.pass_time(_LATEST_S if game.was_late else HUNG_S)
    world.note("it is quiet from now on")
    await world.settle_for_good()


def play_seed(seed: int, faults: list[str] | None = None) -> ModelWorld:
    """One story; raises what must not be."""

    def make() -> ModelWorld:
        return ModelWorld(random.choice((1, 3, 5)), patience_s=random.choice((1.0, 5.0)))

    async def story(world: ModelWorld) -> None:
        times, replicas = random.randint(3, 12), random.randint(1, 3)
        await play(world, faults or list(FAULTS), times=times, replicas=replicas)

    return report(seed, make, story)
