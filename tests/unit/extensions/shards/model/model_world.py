"""Several replicas on one store of Leases, and what must be true of them at each moment.

A hand can only ever go from yes to no. So two writers for a shard begin at the moment when the second
hand is given out, and it is enough to look then: `gained`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from rolecall.extensions.shards import ShardSettings
from rolecall.extensions.shards.lease_shapes import Naming, read_leases
from rolecall.extensions.shards.rendezvous import winners
from rolecall.gvk import Gvk
from rolecall.workqueue import Key, part_of
from tests.unit.extensions.shards.model.lease_store import LeaseStore
from tests.unit.extensions.shards.model.replica import ELECTION, ID, LeaderReplica, Replica

LEASE_S = ELECTION.lease_s
# What is promised: no shard is without a holder for longer, once nothing goes wrong any more.
HELD_WITHIN_S = LEASE_S + 5.0
# A call on a connection that was cut is given up after half a deadline, and made again after a pause.
HUNG_S = 8.0
_BACK_S = 8.0  # a call that hangs, and the pause after it
_NOTICED_S = 2.5  # the longest pause between two looks, and what they take
_KIND = Gvk("demo.example.com", "v1", "Website")


class TwoWritersError(AssertionError):
    """What must never be."""


@cache
def key_of(shard: int, count: int) -> Key:
    """Some key of a shard."""
    number = 0
    while True:
        key = Key(_KIND, "ns", f"site-{number}")
        if part_of(key, count) == shard:
            return key
        number += 1


class ModelWorld:
    def __init__(self, count: int, *, patience_s: float = 5.0) -> None:
        self.store = LeaseStore()
        self.count = count
        self.settings = ShardSettings(count, ELECTION, patience_s)
        self.replicas: dict[str, Replica] = {}
        self.leaders: list[LeaderReplica] = []
        self.log: list[str] = []
        self.keys = {shard: key_of(shard, count) for shard in range(count)}
        self.on_hand: Callable[[Replica, int], None] | None = None
        self.violation: TwoWritersError | None = None

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def start(self, name: str, **more: Any) -> Replica:
        settings = more.pop("settings", self.settings)
        replica = Replica(name, self.store, settings, self.gained, **more)
        self.replicas[name] = replica
        self.note(f"{name} starts")
        return replica

    def start_leader(self, name: str) -> LeaderReplica:
        self.note(f"{name} starts, without shards")
        leader = LeaderReplica(name, self.store, lambda: self._on_leads(name))
        self.leaders.append(leader)
        return leader

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
            if replica.count == self.count
            and replica.election.hand_for(self.keys[shard]) is not None
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
                    f"shards {sorted(self.unheld())} have no holder after {within_s} s\n{self.story()}"
                )
            await self.pass_time(0.25)
        return self.now - began

    async def settle_for_good(self, within_s: float = HELD_WITHIN_S) -> None:
        """It is quiet: in time each shard has a holder, and stays with it."""
        await self.pass_time(_NOTICED_S)
        await self.settle(within_s - _NOTICED_S)
        # Who was cut off comes back, and gets what it should have.
        await self.pass_time(_BACK_S)
        expected = self.rightful()
        assert self.division() == expected, (expected, self.division(), self.story())
        await self.pass_time(_NOTICED_S)
        assert self.division() == expected, (expected, self.division(), self.story())

    def rightful(self) -> dict[int, str]:
        """Who should have what, by the Leases that there are."""
        naming = Naming(ID, self.settings.election.namespace, self.count)
        members = read_leases(self.store.leases.values(), naming).members.values()
        living = {
            member.tenure: member
            for member in members
            if member.is_sound and not (member.is_ended or member.is_leaving)
            if member.count == self.count
        }
        weights = {tenure: member.weight for tenure, member in living.items()}
        return {
            shard: living[tenure].host if tenure else ""
            for shard, tenure in winners(self.count, weights).items()
        }

    def story(self) -> str:
        return "\n".join(self.log[-80:])

    def gained(self, replica: Replica, shards: frozenset[int]) -> None:
        self.note(f"{replica.name} gained {sorted(shards)}")
        for shard in shards:
            hand = replica.election.hand_for(key_of(shard, replica.count))
            if hand is None or hand in replica.hands:
                continue
            self._check_alone(replica, shard)
            replica.hands.append(hand)
            if self.on_hand is not None:
                self.on_hand(replica, shard)

    def _check_alone(self, replica: Replica, shard: int) -> None:
        for other in self.living():
            # Keys of one shard are spread over all, where there are so many or so many others.
            is_of_another_count = other.count != replica.count
            for hand in other.hands:
                if (hand.shard == shard or is_of_another_count) and hand.holds():
                    self._violated(f"shard {shard}: {replica.name}", other.name)
        for leader in self.leaders:
            if leader.may_write():
                self._violated(f"shard {shard}: {replica.name}", leader.name)

    def _on_leads(self, name: str) -> None:
        self.note(f"{name} leads")
        for replica in self.living():
            if any(hand.holds() for hand in replica.hands):
                self._violated(name, replica.name)

    def _violated(self, who: str, other: str) -> None:
        if self.violation is None:
            self.violation = TwoWritersError(
                f"{who} begins while {other} may write\n{self.story()}"
            )


__all__ = [
    "ELECTION",
    "HELD_WITHIN_S",
    "HUNG_S",
    "ID",
    "LEASE_S",
    "ModelWorld",
    "TwoWritersError",
]
