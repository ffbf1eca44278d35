"""Small worlds, exhaustively: each fault after each other one, on the holder of the only shard.

The world begins with a Lease that was released, so that nothing waits for the first start's lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any

from rolecall.extensions.shards.lease_shapes import Naming, released_shard, unheld_shard
from tests.unit.extensions.shards.model.edits import (
    Edit,
    with_annotations,
    with_holder,
    with_nonsense,
)
from tests.unit.extensions.shards.model.model_world import (
    HELD_WITHIN_S,
    HUNG_S,
    ID,
    LEASE_S,
    ModelWorld,
)
from tests.unit.extensions.shards.model.replica import Faults, ModelClock, Replica, no_wait
from tests.unit.extensions.shards.model.stories import report

_SHARD, _MEMBER = f"{ID}-shard-00", f"{ID}-member-"
# Shortly after each other, before and after a deadline.
GAPS_S = (0.3, 6.0, 12.0)
_STAYS_S = 40.0
_HANGING = {"cut", "cut long", "lose answers", "stall"}


@dataclass
class Scope:
    """One shard, its holder, and another replica."""

    world: ModelWorld
    holder: Replica
    other: Replica

    @classmethod
    async def begin(cls, world: ModelWorld) -> Scope:
        _release_all(world)
        first, second = world.start("a", rate=1.05), world.start("b", rate=0.95)
        await world.settle()
        await world.pass_time(0.5)
        holds = world.holder_of(0) == "a"
        return cls(world, first if holds else second, second if holds else first)

    @property
    def member(self) -> str:
        """The Lease of the shard's holder, as the store has it."""
        lease = self.world.store.leases.get(_SHARD) or {}
        spec = lease.get("spec")
        holder = spec.get("holderIdentity") if isinstance(spec, dict) else ""
        return _MEMBER + str(holder).rpartition("_")[2]

    def member_of(self, replica: Replica) -> str:
        names = [
            str(lease["spec"].get("holderIdentity"))
            for name, lease in self.world.store.leases.items()
            if name.startswith(_MEMBER)
        ]
        return next((name for name in names if name.startswith(f"{replica.name}_")), "x_y")

    def delete(self, *names: str) -> None:
        for name in names:
            if name in self.world.store.leases:
                self.world.store.delete(name)


async def _paused(scope: Scope, seconds: float, *, is_suspend: bool = False) -> None:
    scope.holder.pause(is_suspend=is_suspend)
    await asyncio.sleep(seconds)
    scope.holder.resume()


async def _faulty(scope: Scope, seconds: float, name: str, value: object) -> None:
    await _wrong(scope.holder, seconds, name, value)


async def _wrong(replica: Replica, seconds: float, name: str, value: object) -> None:
    setattr(replica.faults, name, value)
    await asyncio.sleep(seconds)
    setattr(replica.faults, name, getattr(Faults(), name))


async def _refused(scope: Scope, what: str) -> None:
    faults = scope.holder.faults
    faults.refused |= {what}
    await asyncio.sleep(35.0)
    faults.refused -= {what}


async def _killed(replica: Replica) -> None:
    replica.is_dead = True
    await replica.kill()


async def _led(scope: Scope) -> None:
    scope.world.start_leader("leader")
    await asyncio.sleep(_STAYS_S)


async def _joined_by_another_count(scope: Scope) -> None:
    settings = replace(scope.world.settings, count=2)
    scope.world.start(f"two-{len(scope.world.replicas)}", settings=settings)
    await asyncio.sleep(_STAYS_S)


async def _left(scope: Scope) -> None:
    if not scope.holder.is_dead and not scope.holder.is_leaving:
        await scope.holder.leave()


async def _busy(scope: Scope) -> None:
    scope.holder.runs.until[0] = scope.world.now + 8.0


async def _joined(scope: Scope) -> None:
    for name in ("c", "d", "e"):
        if name not in scope.world.replicas:
            scope.world.start(name, weight=400)
            return


async def _edited(scope: Scope, name: str, change: Edit) -> None:
    scope.world.store.edit(name, change)


async def _deleted(scope: Scope, *names: str) -> None:
    scope.delete(*names)


Fault = Callable[[Scope], Coroutine[Any, Any, None]]
FAULTS: dict[str, Fault] = {
    "kill": lambda scope: _killed(scope.holder),
    "kill the other": lambda scope: _killed(scope.other),
    "a leader": _led,
    "another number of shards": _joined_by_another_count,
    "leave": _left,
    "join": _joined,
    "run": _busy,
    "pause": lambda scope: _paused(scope, 11.0),
    "pause long": lambda scope: _paused(scope, 40.0),
    "suspend": lambda scope: _paused(scope, 40.0, is_suspend=True),
    "cut": lambda scope: _faulty(scope, 11.0, "cut", True),
    "cut long": lambda scope: _faulty(scope, 35.0, "cut", True),
    "refuse": lambda scope: _faulty(scope, 16.0, "refusing", True),
    "refuse longer": lambda scope: _faulty(scope, 22.0, "refusing", True),
    "lose answers": lambda scope: _faulty(scope, 6.0, "answers_lost", 1.0),
    "late": lambda scope: _faulty(scope, 9.0, "late", 1.0),
    "slow": lambda scope: _faulty(scope, 20.0, "latency_s", 2.0),
    "stall": lambda scope: _faulty(scope, 35.0, "stalled_s", 25.0),
    "the other is slow": lambda scope: _wrong(scope.other, 20.0, "latency_s", 2.0),
    "the other is late": lambda scope: _wrong(scope.other, 9.0, "late", 1.0),
    "refuse writes": lambda scope: _refused(scope, "update"),
    "refuse lists": lambda scope: _refused(scope, "list"),
    "refuse the mode": lambda scope: _refused(scope, ID),
    "refuse watches": lambda scope: _refused(scope, "watch"),
    "delete the member": lambda scope: _deleted(scope, scope.member),
    "delete the shard": lambda scope: _deleted(scope, _SHARD),
    "delete the mode": lambda scope: _deleted(scope, ID),
    "delete all": lambda scope: _deleted(scope, *scope.world.store.leases),
    "clear the member": lambda scope: _edited(scope, scope.member, with_holder("")),
    "clear the shard": lambda scope: _edited(scope, _SHARD, with_holder("")),
    "name the other": lambda scope: _edited(
        scope, _SHARD, with_holder(scope.member_of(scope.other))
    ),
    "another count": lambda scope: _edited(
        scope, _SHARD, with_annotations(**{"rolecall.dev/shards": "3"})
    ),
    "nonsense": lambda scope: _edited(scope, _SHARD, with_nonsense),
    "a note": lambda scope: _edited(scope, _SHARD, with_annotations(note="hello")),
}


def play_scope(
    faults: Iterable[tuple[float, str]], seed: int = 0, *, within_s: float = HELD_WITHIN_S
) -> ModelWorld:
    """One story: each fault, so long after the one before; then each shard has a holder in time."""
    reported = list(faults)

    async def story(world: ModelWorld) -> None:
        scope = await Scope.begin(world)
        under_way = []
        for gap_s, name in reported:
            await world.pass_time(gap_s)
            world.note(f"{name}: {scope.holder.name}")
            under_way.append(asyncio.ensure_future(FAULTS[name](scope)))
        await asyncio.gather(*under_way)
        await _end_others(world)
        names = {name for _, name in reported}
        is_late = bool(names & {"late", "the other is late"})
        await world.pass_time(20.0 if is_late else HUNG_S if names & _HANGING else 0.0)
        if not [replica for replica in world.living() if not replica.is_leaving]:
            world.start("z")
        world.note("it is quiet from now on")
        await world.settle_for_good(within_s)

    return report(f"{seed} {reported}", lambda: ModelWorld(1, patience_s=3.0), story)


async def _end_others(world: ModelWorld) -> None:
    """Who works in another way, or divides into other parts."""
    for leader in world.leaders:
        await leader.kill()
    for replica in world.living():
        if replica.count != world.count:
            await _killed(replica)


def _release_all(world: ModelWorld) -> None:
    naming = Naming(ID, world.settings.election.namespace, world.count)
    clock = ModelClock(1.0, no_wait)
    for shard in range(world.count):
        lease = unheld_shard(naming, shard, LEASE_S, clock.now())
        world.store.create(released_shard(lease, naming, "earlier", clock.now()))
    world.store.create(
        {
            "metadata": {"name": ID, "namespace": naming.namespace},
            "spec": {"holderIdentity": naming.mode_text, "leaseDurationSeconds": 15},
        }
    )
