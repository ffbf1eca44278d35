"""What a test of a turn has around it: a reconciler, a cluster of one kind, and a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rolecall.clock import Clock
from rolecall.election import Election
from rolecall.json_object import Json
from rolecall.reactor.newest_crs import NewestCrs
from rolecall.reconcile import (
    NoFollowers,
    Outcome,
    Reconciler,
    ReconcilerPorts,
    RunDefaults,
    Workers,
)
from rolecall.runner import RunRequest, RunResult
from rolecall.settings import QueueSettings
from rolecall.status import find
from rolecall.watches import Watch
from rolecall.workqueue import START, Cause, Key, Limits, Queue, Turn, Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import (
    GOOD,
    RecordedEvents,
    RecordedPlays,
    RecordedTelemetry,
    ScriptedAccess,
    ScriptedRunner,
)


@dataclass
class Setting:
    """Everything that a test of a turn needs."""

    shop: Shop
    watch: Watch
    clock: Clock
    runner: ScriptedRunner = field(default_factory=ScriptedRunner)
    access: ScriptedAccess = field(default_factory=ScriptedAccess)
    events: RecordedEvents = field(default_factory=RecordedEvents)
    telemetry: RecordedTelemetry = field(default_factory=RecordedTelemetry)
    plays: RecordedPlays = field(default_factory=RecordedPlays)
    defaults: RunDefaults = field(default_factory=RunDefaults)
    may_run: bool = True
    brought: dict[Key, Json] = field(default_factory=dict)  # as if by a stream
    newest: NewestCrs | None = None  # by a real one
    ports: dict[str, Any] = field(default_factory=dict)  # more of them, by name

    def __post_init__(self) -> None:
        ids = count(1)
        world = ReconcilerPorts(
            cluster=self.shop.cluster,
            runner=self.runner,
            access=self.access,
            events=self.events,
            telemetry=self.telemetry,
            plays=self.plays,
            clock=self.clock,
            may_run=lambda: self.may_run,
            brought=self._take_brought,
            **self.ports,
        )
        self.reconciler = Reconciler(
            {self.watch.gvk: self.watch}, world, self.defaults, lambda: str(next(ids))
        )

    def _take_brought(self, key: Key) -> Json | None:
        return self.newest.take(key) if self.newest is not None else self.brought.pop(key, None)

    def key(self, name: str = "a") -> Key:
        return Key(self.shop.gvk, self.shop.namespace, name)

    async def turn(
        self, name: str = "a", urgency: Urgency = Urgency.EDIT, cause: Cause = START
    ) -> Outcome:
        return await self.reconciler.reconcile(Turn(self.key(name), urgency, cause=cause))

    async def condition(self, type_: str, name: str = "a") -> Json | None:
        status = (await self.shop.get(name)).get("status") or {}
        return find(status.get("conditions") or [], type_)

    async def reported(self, type_: str, name: str = "a") -> tuple[str, str, str]:
        found = await self.condition(type_, name)
        assert found is not None, f"no condition {type_}"
        return found["status"], found["reason"], found["message"]


class LongRun:
    """A script that goes on until the test says how it ends."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self._end: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()

    async def __call__(self, request: RunRequest) -> RunResult:
        self.began.set()
        return await self._end

    def end(self, result: RunResult) -> None:
        self._end.set_result(result)


@asynccontextmanager
async def long_run(setting: Setting) -> AsyncIterator[tuple[LongRun, asyncio.Task[Outcome]]]:
    """A turn whose run is in flight; it ends well unless the test ended it."""
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run)
    turn = asyncio.create_task(setting.turn())
    await run.began.wait()
    yield run, turn
    if not turn.done():
        run.end(GOOD)
        await turn


class Followers(NoFollowers):
    """Of turns, as a test wants to follow them."""

    def __init__(
        self,
        on_gone: Callable[[Key], Awaitable[None]] | None = None,
        on_turn: Callable[[Turn, Outcome], None] | None = None,
    ) -> None:
        self._on_gone, self._on_turn = on_gone, on_turn

    async def on_gone(self, key: Key) -> None:
        if self._on_gone is not None:
            await self._on_gone(key)

    def turn_over(self, turn: Turn, outcome: Outcome) -> None:
        if self._on_turn is not None:
            self._on_turn(turn, outcome)


def hands_for(
    setting: Setting, *, max_runs: int = 2, election: Election | None = None, **reported: Any
) -> tuple[Queue, Workers]:
    """A queue and workers for a setting; backoff and jitter as in real life."""
    limits = Limits(max_runs, {setting.watch.gvk: max_runs})
    queue = Queue(setting.clock, limits, QueueSettings())
    reconciler, telemetry, clock = setting.reconciler, setting.telemetry, setting.clock
    election, followers = election or Election(), Followers(**reported)
    return queue, Workers(queue, reconciler, telemetry, clock, election, followers)


@asynccontextmanager
async def working(
    setting: Setting, max_runs: int = 2, **more: Any
) -> AsyncIterator[tuple[Queue, Workers]]:
    queue, workers = hands_for(setting, max_runs=max_runs, **more)
    running = asyncio.create_task(workers.run(max_runs))
    try:
        yield queue, workers
    finally:
        await workers.drain(0.0)
        await running
