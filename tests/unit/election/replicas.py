"""Replicas that want one Lease, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from rolecall.election import LeaseElection
from rolecall.settings import ElectionSettings
from tests.unit.election.leases import Connection, StoredLease
from tests.unit.election.work import idle_work
from tests.unit.workqueue.virtual_clock import VirtualClock

SETTINGS = ElectionSettings(is_on=True, id="app", namespace="ns")
RETRY_S = 2.5  # two seconds and their jitter


@dataclass
class Replica:
    """One candidate and its task."""

    name: str
    connection: Connection
    election: LeaseElection
    task: asyncio.Task[None]
    reported: list[bool] = field(default_factory=list)


class Replicas:
    """Some replicas, one Lease, one clock."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.stored = StoredLease()
        self.replicas: list[Replica] = []

    def start(self, name: str) -> Replica:
        connection = Connection(self.stored, self.clock)
        reported: list[bool] = []
        election = LeaseElection(
            connection, SETTINGS, identity=name, clock=self.clock, on_change=reported.append
        )
        task = asyncio.ensure_future(election.run(idle_work(self.clock)))
        self.replicas.append(Replica(name, connection, election, task, reported))
        return self.replicas[-1]

    def writers(self) -> list[str]:
        return [one.name for one in self.replicas if one.election.may_write()]

    async def pass_time(self, seconds: float) -> None:
        """Look four times a second whether two may write."""
        for _ in range(round(seconds * 4)):
            await self.clock.advance(0.25)
            assert len(self.writers()) <= 1, self.writers()
