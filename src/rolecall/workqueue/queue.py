"""Hands out keys, one worker a key, the most urgent first.

Promises: a key is never in two hands at once; adding it twice before it is taken yields it once;
adding it while a worker holds it yields it once more afterwards; a more urgent reason moves a waiting
key up; no kind exceeds its limit, all together never exceed `max_runs` (see `run_slots`) nor memory;
nothing starves (see `lanes`). Of a key that is dropped nothing is planned any more, and one in hand
stays there until it is put down. Does not promise: survival of restarts (the start-up list replaces
it), nor that every kind gets the same share.

The hard part is handing over without losing: a worker that is cancelled in the very moment in which it
gets a key gives the key back. Workers wait in line for a future each and `_serve` matches them with
keys whenever either side changes; a condition variable was rejected since it wakes all to serve one.

Everything happens on one event loop and nothing here awaits but `take` and the alarm, so each method is
atomic without a lock. `reconcile.workers` takes and puts back, `reactor` adds.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.settings import QueueSettings
from rolecall.workqueue.backoff import Backoff
from rolecall.workqueue.cause import PERIOD, UNREPORTED, Cause
from rolecall.workqueue.delays import Delayed, Delays
from rolecall.workqueue.key import Key, Urgency
from rolecall.workqueue.lanes import Lanes, Waiting
from rolecall.workqueue.run_slots import Limits, RunSlots
from rolecall.workqueue.snapshot import QueueSnapshot, Waits


class QueueClosedError(RolecallError):
    """The engine is stopping: no more keys are handed out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A key that was taken, how urgent it was, how long it had waited for that reason, and why."""

    key: Key
    urgency: Urgency
    waited_s: float = 0.0
    cause: Cause = UNREPORTED


_Reason = tuple[Urgency, Cause]


class Queue:
    def __init__(
        self,
        clock: Clock,
        limits: Limits,
        settings: QueueSettings,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._jitter = settings.jitter
        self._uniform = uniform
        self._lanes = Lanes(settings.ageing_s)
        self._delays = Delays()
        self._backoff = Backoff(settings.backoff_start_s, settings.backoff_cap_s)
        self._role_backoff_start_s = settings.role_backoff_start_s
        # Keys in hand, with the most urgent reason that came up meanwhile; such a key is never in
        # a lane as well.
        self._hands: dict[Key, _Reason | None] = {}
        self._slots = RunSlots(limits)
        self._held: set[Key] = set()  # of those in hand: they have no slot, as they have no run
        self._holders: dict[Key, deque[asyncio.Future[None]]] = {}  # who waits to hold a key
        self._waits = {urgency: Waits() for urgency in Urgency}
        # While workers wait here, no key that they could take is in a lane: `_serve` sees to that.
        self._takers: deque[asyncio.Future[Turn]] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = float("inf")
        self._is_closed = False
        self._drained = asyncio.Event()
        self._drained.set()

    def add(self, key: Key, urgency: Urgency, cause: Cause = UNREPORTED) -> None:
        """Let a key be taken once from now on, however often this is called before.

        The cause of the most urgent reason is the turn's; among equals the first one's.
        """
        self._put(key, (urgency, cause))
        self._serve()

    def add_at_once(self, key: Key, cause: Cause) -> None:
        """Add a key with the urgency of an edit, past what it waits for: a delay, a backoff."""
        self.forget(key)
        self.add(key, Urgency.EDIT, cause)

    def add_after(
        self, key: Key, delay_s: float, urgency: Urgency, cause: Cause = UNREPORTED
    ) -> None:
        """Add a key in so many seconds; where an earlier such time is set, that one stays."""
        if delay_s <= 0:
            self.add(key, urgency, cause)
            return
        self._delays.add(key, self._clock.monotonic() + delay_s, urgency, cause)
        self._set_alarm()

    def add_next_period(self, key: Key, period_s: float) -> None:
        """Add a key after its period, stretched a little so that thousands do not come as one."""
        stretched_s = period_s * (1.0 + self._uniform(0.0, self._jitter))
        self.add_after(key, stretched_s, Urgency.PERIOD, PERIOD)

    async def take(self) -> Turn:
        """Wait for the next key and hold it until `done`; `QueueClosedError` once closed."""
        if self._is_closed:
            raise QueueClosedError("the queue was closed")
        taker: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._takers.append(taker)
        self._serve()
        try:
            return await taker
        except asyncio.CancelledError:
            if taker.done() and not taker.cancelled() and taker.exception() is None:
                self._give_back(taker.result())
            raise

    @asynccontextmanager
    async def held(self, key: Key) -> AsyncIterator[None]:
        """Have a key in hand without a run: no turn of it begins while the context lasts.

        Waits until its turn is over. Who waits to hold it goes before the next turn.
        """
        if key in self._hands:
            given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._holders.setdefault(key, deque()).append(given)
            try:
                await given
            except asyncio.CancelledError:
                if given.done() and not given.cancelled():
                    self.done(key)
                raise
        else:
            self._hold(key, None)
        try:
            yield
        finally:
            self.done(key)

    def done(self, key: Key) -> None:
        """Put a key down; it waits again at once if it was added while in hand."""
        again = self._hands.pop(key)
        if key in self._held:
            self._held.remove(key)
        else:
            self._slots.put_down(key)
        if (holder := self._next_holder(key)) is not None:
            self._hold(key, again)
            holder.set_result(None)
        elif again is not None:
            self._put(key, again)
        if not self._hands:
            self._drained.set()
        self._serve()

    def leave_slot(self, key: Key) -> None:
        """The run of a key in hand waits: others may begin, or go on."""
        self._slots.leave(key)
        self._serve()

    def want_slot(self, key: Key, on_given: Callable[[], None]) -> None:
        """The run of a key in hand is awake: call `on_given` as soon as it has a slot."""
        self._slots.want(key, on_given)
        self._serve()

    def fail(self, key: Key, *, by_role: bool = False) -> float:
        """Let a key retry after its backoff; returns the seconds. `by_role`: its run failed."""
        delay_s = self._backoff.fail(key, self._role_backoff_start_s if by_role else 0.0)
        cause = Cause.retry(self._backoff.in_a_row(key))
        self.add_after(key, delay_s, Urgency.RETRY, cause)
        return delay_s

    def succeed(self, key: Key) -> None:
        self._backoff.reset(key)

    def forget(self, key: Key) -> None:
        """Drop what is planned for a key that is gone; a reason that came up since stays."""
        self._backoff.reset(key)
        self._delays.drop(key)

    def drop(self, is_dropped: Callable[[Key], bool]) -> list[Key]:
        """Take all keys that this names out of lanes, delays and backoff; returns those in hand.

        Nothing that was asked for so far makes a key in hand wait again when it is put down.
        """
        self._lanes.drop(is_dropped)
        self._delays.drop_all(is_dropped)
        self._backoff.drop_all(is_dropped)
        in_hand = [key for key in self._hands if is_dropped(key)]
        for key in in_hand:
            self._hands[key] = None
        return in_hand

    def in_hand(self) -> list[Key]:
        """The keys that workers have, in no order."""
        return list(self._hands)

    def close(self) -> None:
        """Hand out nothing more; workers that wait get `QueueClosedError`."""
        self._is_closed = True
        self._cancel_alarm()
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_exception(QueueClosedError("the queue was closed"))

    def hand_out(self) -> None:
        """Hand out what has room now: runs of a kind take less memory than before."""
        self._serve()

    async def wait_drained(self) -> None:
        await self._drained.wait()

    def waiting(self) -> list[Waiting]:
        """The keys that wait for a worker, in no order."""
        return list(self._lanes.all())

    def delayed(self) -> list[Delayed]:
        """The keys that come back at a set time, in no order."""
        return list(self._delays.all())

    def snapshot(self) -> QueueSnapshot:
        now = self._clock.monotonic()
        oldest = self._lanes.oldest()
        return QueueSnapshot(
            depth=self._lanes.depths(),
            in_hand=dict(self._slots.in_hand),
            waiting=self._slots.waiting,
            oldest_age_s={urgency: now - oldest.get(urgency, now) for urgency in Urgency},
            waits=dict(self._waits),
            delayed=len(self._delays),
            backing_off=len(self._backoff),
            max_runs=self._most_runs(),
            max_waiting=self._limits.max_waiting,
        )

    def _hold(self, key: Key, again: _Reason | None) -> None:
        waiting = self._lanes.remove(key)
        if waiting is not None:
            again = _more_urgent(again, (waiting.urgency, waiting.cause))
        self._hands[key] = again
        self._held.add(key)
        self._drained.clear()

    def _next_holder(self, key: Key) -> asyncio.Future[None] | None:
        waiting = self._holders.get(key, deque())
        while waiting and waiting[0].done():
            waiting.popleft()
        holder = waiting.popleft() if waiting else None
        if not waiting:
            self._holders.pop(key, None)
        return holder

    def _put(self, key: Key, reason: _Reason) -> None:
        if key in self._hands:
            self._hands[key] = _more_urgent(self._hands[key], reason)
        else:
            self._lanes.put(key, *reason, self._clock.monotonic())

    def _serve(self) -> None:
        slots = self._slots
        while slots.is_free:
            if slots.woken_go_first and slots.give_to_woken():
                continue
            if not self._hand_out_next() and not slots.give_to_woken():
                return

    def _hand_out_next(self) -> bool:
        while self._takers and self._takers[0].done():
            self._takers.popleft()
        if self._is_closed or not self._takers:
            return False
        now = self._clock.monotonic()
        waiting = self._lanes.take(self._slots.has_room, now, self._fits)
        if waiting is None:
            return False
        turn = Turn(waiting.key, waiting.urgency, now - waiting.since, waiting.cause)
        self._waits[turn.urgency] = self._waits[turn.urgency].plus(turn.waited_s)
        self._hands[turn.key] = None
        self._slots.take(turn.key)
        self._drained.clear()
        self._takers.popleft().set_result(turn)
        return True

    def _fits(self, gvk: Gvk) -> bool:
        """Whether memory takes one more run, reckoning all in hand at what their kinds take now."""
        if self._limits.memory_bytes is None or not self._hands:
            return True
        run_bytes = self._limits.run_bytes
        in_hand = sum(
            count * run_bytes(kind) for kind, count in self._slots.in_hand.items() if count
        )
        return in_hand + run_bytes(gvk) <= self._limits.memory_bytes

    def _most_runs(self) -> int:
        """How many runs of the cheapest kind memory takes now."""
        kinds, memory_bytes = self._limits.per_kind, self._limits.memory_bytes
        if memory_bytes is None or not kinds:
            return self._limits.max_runs
        cheapest = max(1, min(self._limits.run_bytes(gvk) for gvk in kinds))
        return max(1, min(self._limits.max_runs, memory_bytes // cheapest))

    def _give_back(self, turn: Turn) -> None:
        reason = turn.urgency, turn.cause
        self._hands[turn.key] = _more_urgent(reason, self._hands[turn.key] or reason)
        self.done(turn.key)

    def _set_alarm(self) -> None:
        deadline = self._delays.next_deadline()
        if self._is_closed or deadline is None or deadline >= self._alarm_at:
            return
        self._cancel_alarm()
        self._alarm_at = deadline
        self._alarm = asyncio.get_running_loop().create_task(self._ring(), name="queue alarm")

    async def _ring(self) -> None:
        await self._clock.sleep(max(0.0, self._alarm_at - self._clock.monotonic()))
        self._alarm, self._alarm_at = None, float("inf")
        try:
            for due in self._delays.take_due(self._clock.monotonic()):
                self._put(due.key, (due.urgency, due.cause))
        finally:
            self._set_alarm()  # whatever happens: without it, no key ever came back by itself
        self._serve()

    def _cancel_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._alarm_at = None, float("inf")


def _more_urgent(first: _Reason | None, second: _Reason) -> _Reason:
    """The first one among equals."""
    return second if first is None or second[0] < first[0] else first
