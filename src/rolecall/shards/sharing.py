"""What changes hands with a shard: keys, their runs, and what is kept and remembered of them.

    it comes     forget what an earlier time left; queue its keys as after a start
    it leaves    no turn begins any more; runs may end, for a while; what is kept of them is written
    it is lost   its runs are stopped here and now, then killed; nothing of them is told or written

The election decides when; here is done what follows. All of it happens on the loop and at once, but for
the list of known keys: of a hundred thousand, it is made in a thread.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Protocol

from rolecall.acting import RightToAct, acting_for
from rolecall.election import Election
from rolecall.extending import KeyDivision
from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.metrics import EngineMetrics
from rolecall.reconcile import Outcome, Reconciler
from rolecall.runner import in_thread
from rolecall.settings import ShardSettings
from rolecall.shards.election import ShardedElection
from rolecall.shards.first_work import FirstWork
from rolecall.shards.hand import Hand
from rolecall.shards.ports import ShardPorts
from rolecall.shards.shared_keys import IsMeant, SharedKeys
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Key, Queue, part_of

HANDED_OVER = "another replica goes on with it"
# What the end of a run and its last status write take.
_ENDING_S = 2.0
_FIRST = 0
_DIGEST_LENGTH = 10
_MINUTE_S = 60.0
_MOST_NAMED = 8

_logger = logging.getLogger(__name__)


def division_of(election: Election, settings: ShardSettings) -> KeyDivision | None:
    """For whoever asks which replica has a CR."""
    if not isinstance(election, ShardedElection):
        return None
    return KeyDivision(election.view, lambda key: part_of(key, settings.count))


def digest_of_watched(watches: Iterable[Watch], namespaces: Collection[str]) -> str:
    """Of which CRs are watched: what replicas that divide them must agree on, and no more."""
    kinds = sorted(
        [each.gvk.group, each.gvk.kind, json.dumps(asdict(each.selector), sort_keys=True)]
        for each in watches
    )
    text = json.dumps([kinds, sorted(namespaces)])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


class KnownMemo(Protocol):
    @property
    def is_selected(self) -> bool: ...


Known = Mapping[Gvk, Mapping[tuple[str, str], KnownMemo]]


class ElectionRights:
    """The `TurnRights` of turns, as the election says."""

    def __init__(self, election: Election) -> None:
        self._election = election

    def to_begin(self, key: Key) -> AbstractContextManager[None] | None:
        hand = self._election.hand_for(key)
        return acting_for(hand) if hand is not None else None

    def goes_on_with(self, key: Key) -> bool:
        return self._election.hand_for(key) is not None


class RemembersKeys(Protocol):
    """A part of the engine that keeps or remembers something of CRs."""

    def forget_of(self, is_meant: IsMeant) -> None:
        """Another replica acted for them, or acts from now on."""


class KeptParts(Protocol):
    """What is kept of CRs in parts, one for each shard, and written now and then."""

    def has_unwritten(self, part: int) -> bool: ...

    async def write_parts(self, parts: Collection[int]) -> None: ...

    def forget_parts(self, parts: Collection[int]) -> None:
        """Another replica had them, or has them now."""


@dataclass(frozen=True, slots=True)
class SharingParts:
    """What is told when shards change hands."""

    keys: SharedKeys
    queue: Queue
    reconciler: Reconciler
    known: Callable[[], Known]
    metrics: EngineMetrics
    kept: KeptParts
    remembering: tuple[RemembersKeys, ...]
    on_first: Callable[[], None]  # shard 0 came or went
    posting_for: Callable[[], RightToAct | None]  # by which right an Event is being posted now
    drop_foreign: Callable[[], None]  # what is kept of others' CRs until their turns begin


@dataclass(slots=True)
class Sharing:
    """Made before the parts that it moves, since these ask the election whether they may write."""

    settings: ShardSettings
    supervisor: Supervisor
    first: FirstWork
    _parts: SharingParts | None = None
    _ending: dict[int, asyncio.Task[None]] = field(default_factory=dict)  # of shards that leave
    _cut: set[int] = field(default_factory=set)  # shards whose runs had to be ended
    _quiet_at: dict[int, float] = field(default_factory=dict)  # when all of them has arrived
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _ended_at: deque[float] = field(default_factory=deque)  # of the last minute's runs

    def connect(self, parts: SharingParts) -> None:
        self._parts = parts

    @property
    def ports(self) -> ShardPorts:
        """For the election."""
        return ShardPorts(self.gained, self.leaving, self.lost, self.is_busy, self.runs_per_minute)

    def gained(self, shards: frozenset[int]) -> None:
        parts = self._connected
        self._stop_ending(shards)
        self._forget(shards)
        parts.metrics.shards_changed("taken", len(shards))
        _logger.info("shards taken", extra=_fields(shards))
        self._begin(lambda: self._queue_known(shards))
        self._begin(self._drop_foreign)
        if _FIRST in shards:
            self.first.comes()
            parts.on_first()

    def leaving(self, shards: frozenset[int]) -> None:
        parts = self._connected
        in_hand = set(parts.keys.drop(self._in(shards)))
        self._forget_keys(lambda key: self._shard_of(key) in shards and key not in in_hand)
        for shard in shards - self._ending.keys():
            self._ending[shard] = self._begin(partial(self._end_runs_later, shard))
        parts.metrics.shards_changed("leaving", len(shards))
        _logger.info("shards are handed over", extra=_fields(shards))
        self._first_goes(shards)
        self._begin(lambda: parts.kept.write_parts(shards))

    def lost(self, shards: frozenset[int], reason: str) -> None:
        parts = self._connected
        self._stop_ending(shards)
        parts.keys.drop(self._in(shards))
        frozen = parts.reconciler.lose_runs_of(self._in(shards), reason)
        self._forget(shards)
        parts.metrics.shards_changed("lost", len(shards))
        parts.metrics.runs_frozen(frozen)
        _logger.warning("shards lost", extra=_fields(shards, why=reason, runs=frozen))
        self._first_goes(shards)

    def is_busy(self, shard: int) -> bool:
        """Whether anything is done, or is still to be written, for a key of this shard."""
        parts = self._connected
        if shard == _FIRST and self.first.is_at_work:
            return True
        if parts.kept.has_unwritten(shard) or self._is_arriving(shard):
            return True
        return any(self._shard_of(key) == shard for key in parts.queue.in_hand())

    def runs_per_minute(self) -> float:
        oldest = self.supervisor.clock.monotonic() - _MINUTE_S
        while self._ended_at and self._ended_at[0] < oldest:
            self._ended_at.popleft()
        return float(len(self._ended_at))

    def turn_over(self, outcome: Outcome) -> None:
        if outcome.result is not None:
            self.runs_per_minute()  # lets go of those that are too old
            self._ended_at.append(self.supervisor.clock.monotonic())

    def put_down(self, key: Key) -> None:
        """A key is in hand no more."""
        shard = self._shard_of(key)
        if shard in self._cut:
            self._quiet_at[shard] = self.supervisor.clock.monotonic() + self._margin_s
        if shard in self._ending:
            self._forget_keys(key.__eq__)
            self._begin(lambda: self._connected.kept.write_parts({shard}))

    async def close(self) -> None:
        """The engine ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _queue_known(self, shards: frozenset[int]) -> None:
        parts, is_meant = self._connected, self._in(shards)
        known = parts.known()  # a copy
        parts.keys.gained(await in_thread(lambda: _keys_of(known, is_meant)), is_meant)

    async def _drop_foreign(self) -> None:
        """Once it is clear what is ours: what the first list brought of the rest, nobody will take."""
        await self.supervisor.clock.sleep(self.settings.election.lease_s)
        self._connected.drop_foreign()

    async def _end_runs_later(self, shard: int) -> None:
        """Before the election loses patience: so their status tells of it, and nothing is killed."""
        patience_s = self.settings.patience_s
        await self.supervisor.clock.sleep(patience_s - min(_ENDING_S, patience_s / 2))
        if any(self._shard_of(key) == shard for key in self._connected.queue.in_hand()):
            self._cut.add(shard)
            self._connected.reconciler.end_runs_of(self._in({shard}), HANDED_OVER)

    def _is_arriving(self, shard: int) -> bool:
        """Whether something that was sent may not have arrived yet: an Event, a cut run's last write.

        A server may still do what its client no longer waits for; as long as after a lost Lease.
        """
        hand = self._connected.posting_for()
        if isinstance(hand, Hand) and hand.shard == shard:
            return True
        return self.supervisor.clock.monotonic() < self._quiet_at.get(shard, 0.0)

    @property
    def _margin_s(self) -> float:
        election = self.settings.election
        return max(0.0, election.lease_s - election.renew_deadline_s)

    def _first_goes(self, shards: Collection[int]) -> None:
        if _FIRST in shards:
            self.first.goes()
            self._connected.on_first()

    def _forget(self, shards: Collection[int]) -> None:
        self._connected.kept.forget_parts(shards)
        self._forget_keys(self._in(shards))

    def _forget_keys(self, is_meant: IsMeant) -> None:
        for part in self._connected.remembering:
            part.forget_of(is_meant)

    def _stop_ending(self, shards: Collection[int]) -> None:
        for shard in shards:
            self._cut.discard(shard)
            self._quiet_at.pop(shard, None)
            if (task := self._ending.pop(shard, None)) is not None:
                task.cancel()

    def _begin(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(self.supervisor.attempt("sharing", work), name="sharing")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _in(self, shards: Collection[int]) -> IsMeant:
        return lambda key: self._shard_of(key) in shards

    def _shard_of(self, key: Key) -> int:
        return part_of(key, self.settings.count)

    @property
    def _connected(self) -> SharingParts:
        assert self._parts is not None, "connected before the election runs"
        return self._parts


def _keys_of(known: Known, is_meant: IsMeant) -> list[Key]:
    """Those whose CRs their watch wants; in a thread."""
    keys = (
        Key(gvk, *place)
        for gvk, places in known.items()
        for place, memo in places.items()
        if memo.is_selected
    )
    return [key for key in keys if is_meant(key)]


def _fields(shards: Collection[int], **more: object) -> dict[str, dict[str, object]]:
    named = sorted(shards)[:_MOST_NAMED]
    text = ",".join(map(str, named)) + (",..." if len(shards) > len(named) else "")
    return log_fields(count=len(shards), shards=text, **more)
