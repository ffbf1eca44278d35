"""One replica of the model: the real `ShardHolder`, on a clock and a connection that go wrong.

A pause stops everything of it: nothing is sent, no answer is read, no timer fires; its clock goes on.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from rolecall.election import LeaseElection
from rolecall.errors import LeadershipLostError
from rolecall.extensions.shards import Hand, ShardHolder, ShardPorts, ShardSettings
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import UnavailableError, WatchEvent
from rolecall.settings import ElectionSettings
from tests.unit.election.work import idle_work
from tests.unit.extensions.shards.model.lease_store import LeaseStore

T = TypeVar("T")
ID = "app"
ELECTION = ElectionSettings(is_on=True, id=ID, namespace="ns")
_EPOCH = datetime(2026, 11, 25, tzinfo=UTC)


@dataclass
class Faults:
    """What is wrong with a replica now."""

    paused: bool = False
    cut: bool = False  # nothing arrives, nothing comes back
    refusing: bool = False  # each call fails at once
    # Calls of these verbs, or for Leases of these names, fail at once.
    refused: frozenset[str] = frozenset()
    stalled_s: float = 0.0  # what is answered, is answered so late
    answers_lost: float = 0.0  # part of the calls that are done, and not answered
    late: float = 0.0  # part of the requests that arrive long after they were given up
    latency_s: float = 0.005


async def no_wait() -> None:
    """Nothing holds it up."""


class ModelClock:
    """Goes at its own rate, from its own beginning; its wall time may be anything."""

    def __init__(self, rate: float, gate: Callable[[], Any]) -> None:
        self._rate = rate
        self._gate = gate
        self._offset = 500.0
        self.wall_offset_s = 0.0
        self._suspended_s = 0.0  # so long it slept
        self._asleep_since: float | None = None

    def now(self) -> datetime:
        return _EPOCH + timedelta(seconds=self.boottime() + self.wall_offset_s)

    def boottime(self) -> float:
        return self._passed_s()

    def monotonic(self) -> float:
        now = self._passed_s()
        asleep_s = now - self._asleep_since if self._asleep_since is not None else 0.0
        return now - self._suspended_s - asleep_s

    @property
    def is_suspended(self) -> bool:
        return self._asleep_since is not None

    @is_suspended.setter
    def is_suspended(self, is_suspended: bool) -> None:
        now = self._passed_s()
        if self._asleep_since is not None:
            self._suspended_s += now - self._asleep_since
        self._asleep_since = now if is_suspended else None

    def _passed_s(self) -> float:
        return self._offset + asyncio.get_running_loop().time() * self._rate

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(seconds, 0.0) / self._rate)
        await self._gate()


class Connection:
    """A replica's way to the server, and back."""

    def __init__(self, store: LeaseStore, faults: Faults, gate: Callable[[], Any]) -> None:
        self._store = store
        self._faults = faults
        self._gate = gate
        self.sent = 0
        self._under_way: set[asyncio.Task[Any]] = set()

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        return await self._made("get", name, lambda: self._store.get(name))

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        name = body["metadata"]["name"]
        return await self._made("create", name, lambda: self._store.create(body))

    async def replace(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        name = body["metadata"]["name"]
        return await self._made("update", name, lambda: self._store.replace(body))

    async def delete(
        self, gvk: Gvk, namespace: str, name: str, *, uid: str = "", version: str = ""
    ) -> None:
        await self._made("delete", name, lambda: self._store.delete(name, version))

    async def list_all(
        self, gvk: Gvk, namespace: str = "", *, label_selector: str = ""
    ) -> list[Json]:
        return await self._made("list", "", lambda: self._store.labelled(label_selector))

    async def watch(
        self, gvk: Gvk, namespace: str = "", *, resource_version: str, label_selector: str = ""
    ) -> AsyncGenerator[WatchEvent]:
        reported: asyncio.Queue[WatchEvent] = asyncio.Queue()
        listed = lambda: self._store.labelled(label_selector)  # noqa: E731
        for lease in await self._made("watch", "", listed):
            reported.put_nowait(WatchEvent("ADDED", lease))
        self._store.watchers.append(reported)
        try:
            while True:
                event = await reported.get()
                await asyncio.sleep(self._faults.latency_s)
                await self._gate()
                if self._faults.cut or self._faults.refusing or "watch" in self._faults.refused:
                    raise UnavailableError("the watch broke")
                yield event
        finally:
            self._store.watchers.remove(reported)

    async def _made(self, verb: str, name: str, call: Callable[[], T]) -> T:
        await self._gate()
        self.sent += 1
        faults = self._faults
        if faults.refusing or faults.refused & {verb, name}:
            raise UnavailableError("refused")
        arrival = asyncio.ensure_future(self._arrived(call, self._travel_s()))
        self._under_way.add(arrival)
        arrival.add_done_callback(self._under_way.discard)
        # A caller that gives up waiting does not call the request back.
        answer = await asyncio.shield(arrival)
        await asyncio.sleep(faults.latency_s + faults.stalled_s)
        if faults.cut or random.random() < faults.answers_lost:
            await asyncio.Event().wait()
        await self._gate()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _arrived(self, call: Callable[[], T], travel_s: float) -> T | Exception:
        await asyncio.sleep(travel_s)
        if self._faults.cut:
            await asyncio.Event().wait()
        try:
            return call()
        except Exception as failure:
            return failure

    def _travel_s(self) -> float:
        if random.random() < self._faults.late:
            return random.uniform(1.0, 20.0)
        return self._faults.latency_s * random.uniform(0.5, 1.5)


@dataclass
class Runs:
    """Which shards have a run, and until when it would take."""

    until: dict[int, float] = field(default_factory=dict)

    def is_busy(self, shard: int) -> bool:
        return asyncio.get_running_loop().time() < self.until.get(shard, 0.0)


class Replica:
    """A process. It notifies `world` of each hand that it gets."""

    def __init__(
        self,
        name: str,
        store: LeaseStore,
        settings: ShardSettings,
        on_hands: Callable[[Replica, frozenset[int]], None],
        *,
        weight: int = 4,
        rate: float = 1.0,
        election: Callable[..., ShardHolder] = ShardHolder,
    ) -> None:
        self.name = name
        self.count = settings.count
        self.faults = Faults()
        self.runs = Runs()
        self.hands: list[Hand] = []
        self.is_dead = False
        self.is_leaving = False
        self.reported: list[tuple[str, frozenset[int]]] = []
        self._resumed = asyncio.Event()
        self.clock = ModelClock(rate, self._gate)
        self.connection = Connection(store, self.faults, self._gate)
        ports = ShardPorts(
            on_gained=lambda shards: on_hands(self, shards),
            on_leaving=lambda shards: self.reported.append(("leaving", shards)),
            on_lost=self._on_lost,
            busy=self.runs.is_busy,
            runs_per_minute=lambda: 1.5,
        )
        self.election = election(
            self.connection,
            settings,
            identity_host=name,
            clock=self.clock,
            weight=weight,
            ports=ports,
        )
        self.task = asyncio.ensure_future(self.election.run())

    def pause(self, *, is_suspend: bool = False) -> None:
        """SIGSTOP; or the whole machine sleeps, and only one of its clocks goes on."""
        self.faults.paused = True
        self._resumed.clear()
        self.clock.is_suspended = is_suspend

    def resume(self) -> None:
        self.faults.paused = False
        self._resumed.set()
        self.clock.is_suspended = False

    async def kill(self) -> None:
        """SIGKILL: what was sent is on its way."""
        self.is_dead = True
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def leave(self) -> None:
        """SIGTERM: hand over, and end."""
        self.is_leaving = True
        await self.election.leave()
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task
        await self.election.release()
        self.is_dead = True

    def _on_lost(self, shards: frozenset[int], why: str) -> None:
        self.reported.append((f"lost: {why}", shards))
        for shard in shards:
            self.runs.until.pop(shard, None)

    async def _gate(self) -> None:
        while self.faults.paused:
            await self._resumed.wait()


class LeaderReplica:
    """A replica without shards: it leads by the Lease that all replicas know, or stands by."""

    def __init__(self, name: str, store: LeaseStore, on_leads: Callable[[], None]) -> None:
        self.name = name
        self.faults = Faults()
        self._resumed = asyncio.Event()
        self.clock = ModelClock(1.0, self._gate)
        self.is_dead = False

        def reported(leads: bool) -> None:
            if leads:
                on_leads()

        self.election = LeaseElection(
            Connection(store, self.faults, self._gate),
            ELECTION,
            identity=name,
            clock=self.clock,
            on_change=reported,
        )
        self.task = asyncio.ensure_future(self._lead())

    def may_write(self) -> bool:
        return not self.is_dead and self.election.may_write()

    async def kill(self) -> None:
        self.is_dead = True
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def _lead(self) -> None:
        with suppress(LeadershipLostError):
            await self.election.run(idle_work(self.clock))
        self.is_dead = True

    async def _gate(self) -> None:
        while self.faults.paused:
            await self._resumed.wait()
