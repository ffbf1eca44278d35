"""`--shards`: replicas divide the CRs, and each works on its part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Self

from rolecall.election import Election
from rolecall.extending import (
    BackgroundPart,
    ElectionView,
    EndedTurn,
    Endpoints,
    EngineView,
    Extension,
)
from rolecall.extensions.shards.figures import SHARD_METRICS
from rolecall.extensions.shards.flags import ShardFlags
from rolecall.extensions.shards.report import ShardReport
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.slot import ShardsElection
from rolecall.lifecycle import find_own_pod


class ShardsExtension(Extension):
    name = "shards"
    metrics = SHARD_METRICS

    def __init__(self, engine: EngineView, election: ShardsElection) -> None:
        super().__init__(engine)
        self._sharing = election.sharing
        settings = ShardSettings.of(engine.settings)
        self._report = ShardReport(
            settings,
            election.view,
            engine.clock,
            events=engine.events,
            find_pod=partial(find_own_pod, engine.client, engine.environment),
        )
        election.counts.show(self._report.figures, settings.election.id)

    @classmethod
    def elect(cls, engine: ElectionView) -> Election | None:
        return ShardsElection(engine) if engine.settings.extension(ShardFlags).count else None

    @classmethod
    def begin(cls, engine: EngineView) -> Self | None:
        election = engine.election
        return cls(engine, election) if isinstance(election, ShardsElection) else None

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        endpoints.notes["shards"] = self._report.note
        yield

    def parts(self) -> Mapping[str, BackgroundPart]:
        return {"report": self._report.run}

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        self._sharing.note_runs(each.ended_s for each in turns if each.outcome.result is not None)
