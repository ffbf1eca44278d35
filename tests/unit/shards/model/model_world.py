"""Several replicas on one store of Leases, and what must be true of them at each moment.

A hand can only ever go from yes to no. So two writers for a shard begin at the moment when the second
hand is given out, and it is enough to look then: `_on_hands`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from rolecall.gvk import Gvk
from rolecall.settings import ElectionSettings, ShardSettings
from rolecall.shards import ShardedElection, shard_of
from rolecall.workqueue import Key
from tests.unit.shards.model.lease_store import LeaseStore
from tests.unit.shards.model.replica import Replica

ID = "app"
ELECTION = ElectionSettings(is_on=True, id=ID, namespace="ns")
LEASE_S = ELECTION.lease_s
# What is promised: no shard is without a holder for longer, once nothing goes wrong any more.
HELD_WITHIN_S = LEASE_S + 5.0
_BACK_S = 8.0  # a call that hangs, and the pause after it
_NOTICED_S = 2.5  # the longest pause between two looks, and what they take
_KIND = Gvk("demo.example.com", "v1", "Website")


class TwoWritersError(AssertionError):
    """What must never be."""


def key_of(shard: int, count: int) -> Key:
    """Some key of a shard."""
    number = 0
    while True:
        key = Key(_KIND, "ns", f"site-{number}")
        if shard_of(key, count) == shard:
            return key
        number += 1


class ModelWorld:
    def __init__(self, count: int, *, patience_s: float = 5.0) -> None:
        self.store = LeaseStore()
        self.count = count
        self.settings = ShardSettings(count, ELECTION, patience_s)
        self.replicas: dict[str, Replica] = {}
        self.log: list[str] = []
        self.keys = {shard: key_of(shard, count) for shard in range(count)}
        self.on_hand: Callable[[Replica, int], None] | None = None
        self.violation: TwoWritersError | None = None

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def start(self, name: str, **more: Any) -> Replica:
        settings = more.pop("settings", self.settings)
        replica = Replica(name, self.store, settings, self._on_hands, **more)
        self.replicas[name] = replica
        self.note(f"{name} starts")
        return replica

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self.violation is not None:
            raise self.violation

    def note(self, what: str) -> None:
        self.log.append(f"{self.now:9.3f} {what}")

    def living(self) -> list[Replica]:
        return [replica for replica in self.replicas.values() if not replica.is_dead]

    def holder_of(self, shard: int) -> str:
        """Who may begin a turn for a shard."""
        holders = [
            replica.name
            for replica in self.living()
            if replica.election.hand_for(self.keys[shard]) is not None
        ]
        assert len(holders) <= 1, (holders, shard, self.log)
        return holders[0] if holders else ""

    def division(self) -> dict[int, str]:
        return {shard: self.holder_of(shard) for shard in range(self.count)}

    def unheld(self) -> set[int]:
        return {shard for shard, holder in self.division().items() if not holder}

    async def settle(self, within_s: float = HELD_WITHIN_S) -> float:
        """Wait until each shard is held; says how long it took."""
        began = self.now
        while self.unheld():
            if self.now >= began + within_s:
                raise AssertionError(
                    f"shards {sorted(self.unheld())} are nobody's after {within_s} s\n{self.story()}"
                )
            await self.pass_time(0.25)
        return self.now - began

    async def settle_for_good(self) -> None:
        """It is quiet: in time each shard is somebody's, and stays with whom it is."""
        await self.pass_time(_NOTICED_S)
        await self.settle(HELD_WITHIN_S - _NOTICED_S)
        # Who was cut off comes back, and gets what it should have.
        await self.pass_time(_BACK_S)
        before = self.division()
        await self.pass_time(_NOTICED_S)
        assert self.division() == before and not self.unheld(), self.story()

    def story(self) -> str:
        return "\n".join(self.log[-80:])

    def _on_hands(self, replica: Replica, shards: frozenset[int]) -> None:
        self.note(f"{replica.name} gained {sorted(shards)}")
        for shard in shards:
            hand = replica.election.hand_for(self.keys[shard])
            if hand is None or hand in replica.hands:
                continue
            self._check_alone(replica, shard)
            replica.hands.append(hand)
            if self.on_hand is not None:
                self.on_hand(replica, shard)

    def _check_alone(self, replica: Replica, shard: int) -> None:
        for other in self.living():
            for hand in other.hands:
                if hand.shard == shard and hand.holds() and self.violation is None:
                    self.violation = TwoWritersError(
                        f"shard {shard}: {replica.name} begins while {other.name} may write\n"
                        + self.story()
                    )


async def started(world: ModelWorld, *names: str) -> None:
    """Replicas that have all shards between them."""
    for name in names:
        world.start(name)
    await world.settle(2 * HELD_WITHIN_S)


__all__ = [
    "ELECTION",
    "HELD_WITHIN_S",
    "LEASE_S",
    "ModelWorld",
    "ShardedElection",
    "TwoWritersError",
    "started",
]
