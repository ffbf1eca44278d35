"""What changes hands with a shard: keys, their runs, and what is kept and remembered of them.

    it comes     forget the state of an earlier time; queue its keys as after a start
    it leaves    no more turns begin; runs may end, for a while; their kept state is written
    it is lost   its runs are stopped immediately, then killed; they report and write nothing more

The election decides when; this module does the work. All of it happens on the event loop without
waiting, except for the list of known keys, which a thread makes, since there may be a hundred thousand.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Protocol

from rolecall.acting import RightToAct
from rolecall.election import EngineWork, IsMeant, SelectedCr
from rolecall.extensions.shards.figures import ShardCounts
from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.missed_keys import MissedKeys
from rolecall.extensions.shards.ports import ShardPorts
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.singletons import SingletonWork
from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.runner import in_thread
from rolecall.supervisor import Supervisor
from rolecall.workqueue import START, Cause, Key, Urgency, part_of

HANDED_OVER = "another replica goes on with it"
# What the end of a run and its last status write take.
_ENDING_S = 2.0
_FIRST = 0
_MINUTE_S = 60.0
_MOST_NAMED = 8

_logger = logging.getLogger(__name__)


class OwnKeys(Protocol):
    """Which keys are ours; `ShardHolder` is the real one."""

    def hand_for(self, key: Key) -> RightToAct | None: ...

    def is_ours(self, key: Key) -> bool: ...


class Sharing:
    """Made before the parts that it moves, since these ask the election whether they may write."""

    def __init__(
        self, settings: ShardSettings, supervisor: Supervisor, counts: ShardCounts
    ) -> None:
        self._settings, self._supervisor, self._counts = settings, supervisor, counts
        self._clock = supervisor.clock
        self.singletons = SingletonWork()
        # A key may be on its way from one replica to another for so long.
        remembered_s = settings.patience_s + 2 * settings.election.lease_s
        self._missed = MissedKeys(self._clock, remembered_s)
        self._connected: tuple[EngineWork, OwnKeys] | None = None
        self._ending: dict[int, asyncio.Task[None]] = {}  # of shards that leave
        self._cut: set[int] = set()  # shards whose runs had to be ended
        self._quiet_at: dict[int, float] = {}  # when all of them has arrived
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended_at: deque[float] = deque()  # of the last minute's runs

    def connect(self, work: EngineWork, own_keys: OwnKeys) -> None:
        self._connected = work, own_keys

    @property
    def ports(self) -> ShardPorts:
        """For the election."""
        return ShardPorts(self.gained, self.leaving, self.lost, self.is_busy, self.runs_per_minute)

    def gained(self, shards: frozenset[int]) -> None:
        self._stop_ending(shards)
        self._forget(shards)
        self._counts.changed("taken", len(shards))
        _logger.info("shards taken", extra=_fields(shards))
        self._begin(lambda: self._queue_known(shards))
        self._begin(self._drop_foreign)
        if _FIRST in shards:
            self.singletons.comes()
            self._work.on_leading_change()

    def leaving(self, shards: frozenset[int]) -> None:
        in_hand = set(self._drop(self._in(shards)))
        self._forget_keys(lambda key: self._shard_of(key) in shards and key not in in_hand)
        for shard in shards - self._ending.keys():
            self._ending[shard] = self._begin(partial(self._end_runs_later, shard))
        self._counts.changed("leaving", len(shards))
        _logger.info("shards are handed over", extra=_fields(shards))
        self._first_goes(shards)
        self._begin(lambda: self._work.kept.write_parts(shards))

    def lost(self, shards: frozenset[int], reason: str) -> None:
        self._stop_ending(shards)
        self._drop(self._in(shards))
        frozen = self._work.runs.lose_runs_of(self._in(shards), reason)
        self._forget(shards)
        self._counts.changed("lost", len(shards))
        self._counts.runs_frozen(frozen)
        _logger.warning("shards lost", extra=_fields(shards, why=reason, runs=frozen))
        self._first_goes(shards)

    def is_busy(self, shard: int) -> bool:
        """Whether anything is done, or is still to be written, for a key of this shard."""
        work = self._work
        if shard == _FIRST and self.singletons.is_at_work:
            return True
        if work.kept.has_unwritten(shard) or self._is_arriving(shard):
            return True
        return any(self._shard_of(key) == shard for key in work.queue.in_hand())

    def runs_per_minute(self) -> float:
        oldest = self._clock.monotonic() - _MINUTE_S
        while self._ended_at and self._ended_at[0] < oldest:
            self._ended_at.popleft()
        return float(len(self._ended_at))

    def note_runs(self, ended_at: Iterable[float]) -> None:
        """Runs ended; in a thread."""
        self._ended_at.extend(ended_at)

    def leave_to_others(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        """Something happened to a CR that is not ours."""
        if urgency is Urgency.EDIT:
            self._missed.remember(key, cause)

    def put_down(self, key: Key) -> None:
        """A key is in hand no more."""
        shard = self._shard_of(key)
        if shard in self._cut:
            self._quiet_at[shard] = self._clock.monotonic() + self._margin_s
        if shard in self._ending:
            self._forget_keys(key.__eq__)
            self._begin(lambda: self._work.kept.write_parts({shard}))

    async def close(self) -> None:
        """The engine ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _queue_known(self, shards: frozenset[int]) -> None:
        work, is_meant = self._work, self._in(shards)
        known = work.known()  # a copy
        keys = await in_thread(lambda: _keys_of(known, is_meant))
        missed = [(key, Urgency.EDIT, cause) for key, cause in self._missed.take(is_meant)]
        for key, urgency, cause in (*missed, *((key, Urgency.STARTUP, START) for key in keys)):
            if self._own_keys.hand_for(key) is not None:
                work.queue.add(key, urgency, cause)

    def _drop(self, is_dropped: IsMeant) -> list[Key]:
        """These keys are another's from now on; returns those in hand."""
        for waiting in self._work.queue.waiting():
            if waiting.urgency is Urgency.EDIT and is_dropped(waiting.key):
                self._missed.remember(waiting.key, waiting.cause)
        return self._work.queue.drop(is_dropped)

    async def _drop_foreign(self) -> None:
        """Once our shards are known, drop the keys of the first list that belong to other replicas."""
        await self._clock.sleep(self._settings.election.lease_s)
        self._work.keep_brought(self._own_keys.is_ours)

    async def _end_runs_later(self, shard: int) -> None:
        """Stop them before the patience of the election ends, so that their status reports it."""
        patience_s = self._settings.patience_s
        await self._clock.sleep(patience_s - min(_ENDING_S, patience_s / 2))
        if any(self._shard_of(key) == shard for key in self._work.queue.in_hand()):
            self._cut.add(shard)
            self._work.runs.end_runs_of(self._in({shard}), HANDED_OVER)

    def _is_arriving(self, shard: int) -> bool:
        """Whether something that was sent may not have arrived yet: an Event, a cut run's last write.

        A server may still do what its client no longer waits for; as long as after a lost Lease.
        """
        hand = self._work.posting_for()
        if isinstance(hand, Hand) and hand.shard == shard:
            return True
        return self._clock.monotonic() < self._quiet_at.get(shard, 0.0)

    @property
    def _margin_s(self) -> float:
        election = self._settings.election
        return max(0.0, election.lease_s - election.renew_deadline_s)

    def _first_goes(self, shards: Collection[int]) -> None:
        if _FIRST in shards:
            self.singletons.goes()
            self._work.on_leading_change()

    def _forget(self, shards: Collection[int]) -> None:
        self._work.kept.forget_parts(shards)
        self._forget_keys(self._in(shards))

    def _forget_keys(self, is_meant: IsMeant) -> None:
        for part in self._work.remembering:
            part.forget_of(is_meant)

    def _stop_ending(self, shards: Collection[int]) -> None:
        for shard in shards:
            self._cut.discard(shard)
            self._quiet_at.pop(shard, None)
            if (task := self._ending.pop(shard, None)) is not None:
                task.cancel()

    def _begin(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._supervisor.attempt("sharing", work), name="sharing")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _in(self, shards: Collection[int]) -> IsMeant:
        return lambda key: self._shard_of(key) in shards

    def _shard_of(self, key: Key) -> int:
        return part_of(key, self._settings.count)

    @property
    def _work(self) -> EngineWork:
        assert self._connected is not None, "connected before the election runs"
        return self._connected[0]

    @property
    def _own_keys(self) -> OwnKeys:
        assert self._connected is not None, "connected before the election runs"
        return self._connected[1]


def _keys_of(
    known: Mapping[Gvk, Mapping[tuple[str, str], SelectedCr]], is_meant: IsMeant
) -> list[Key]:
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
