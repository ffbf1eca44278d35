"""An engine to which shards come, and from which they go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from rolecall.acting import RightToAct
from rolecall.election import Election
from rolecall.extensions.shards import Hand, ShardSettings
from rolecall.extensions.shards.figures import SHARD_METRICS, ShardCounts
from rolecall.extensions.shards.sharing import Sharing
from rolecall.gvk import Gvk
from rolecall.metrics import EngineMetrics
from rolecall.settings import ElectionSettings
from rolecall.supervisor import Supervisor
from rolecall.workqueue import Key, Urgency, part_of
from tests.fixtures.eventually import eventually_async
from tests.unit.election.work import Kept, Runs, idle_work
from tests.unit.workqueue.keys import APP, key, queue_of
from tests.unit.workqueue.virtual_clock import VirtualClock

COUNT = 4
PATIENCE_S = 30.0
KEYS = [key(f"x{number}") for number in range(20)]
ALL = frozenset(range(COUNT))


def in_shard(shard: int) -> list[Key]:
    return [each for each in KEYS if part_of(each, COUNT) == shard]


@dataclass(frozen=True)
class Memo:
    is_selected: bool = True


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.queue = queue_of(self.clock, max_runs=8)
        self.held: set[int] = set()
        self.runs, self.kept = Runs(KEYS), Kept()
        self.reported: list[str] = []
        self.posting_for: Hand | None = None
        self.known: dict[Gvk, dict[tuple[str, str], Memo]] = {APP: {}}
        for each in KEYS:
            self.known[APP][each.namespace, each.name] = Memo()
        self.known[APP]["default", "unselected"] = Memo(is_selected=False)
        counts = ShardCounts(EngineMetrics("1", more=SHARD_METRICS))
        settings = ShardSettings(COUNT, patience_s=PATIENCE_S)
        self.sharing = Sharing(settings, Supervisor(self.clock), counts)
        work = idle_work(
            self.clock,
            queue=self.queue,
            runs=self.runs,
            known=lambda: self.known,
            kept=self.kept,
            remembering=(self.runs,),
            on_leading_change=lambda: self.reported.append("first"),
            posting_for=lambda: self.posting_for,
            keep_brought=self._keep_brought,
        )
        self.sharing.connect(work, self)

    def hand_for(self, asked: Key) -> RightToAct | None:
        return Election() if self.is_ours(asked) else None

    def is_ours(self, asked: Key) -> bool:
        return part_of(asked, COUNT) in self.held

    def _keep_brought(self, is_kept: Callable[[Key], bool]) -> None:
        self.reported.append(f"kept {len([each for each in KEYS if is_kept(each)])}")

    async def gain(self, *shards: int) -> None:
        self.held |= set(shards)
        self.sharing.gained(frozenset(shards))
        keys = {each for shard in shards for each in in_shard(shard)}

        async def are_queued() -> bool:  # known keys are listed in a thread
            return keys <= self.waiting()

        await eventually_async(are_queued)

    async def settle(self) -> None:
        """Wait for all that a shard which came has begun."""
        begun = [each for each in asyncio.all_tasks() if each.get_name() == "sharing"]
        await self.clock.advance(ElectionSettings().lease_s)
        await asyncio.gather(*begun)

    def waiting(self) -> set[Key]:
        return {each.key for each in self.queue.waiting()}

    def urgencies(self) -> dict[Key, tuple[Urgency, str]]:
        return {each.key: (each.urgency, str(each.cause)) for each in self.queue.waiting()}
