"""Runs of the last hour and day, by place: fed with turns that ended, and read by all who look.

The hard part is thousands of namespaces, of which each reader may see others. Counts of an interval
that is over are packed (`packed.py`); those of any places add up, also medians. Failing CRs are kept by
name, and counted at the end of each minute: a kind that fails between two tries fails all the time. Of
a reader's last answer, only the last intervals are made anew.

Threads alone call this: a lock is held for some milliseconds.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from rolecall.clock import Clock
from rolecall.extending import EndedTurn
from rolecall.extensions.console.page.trends.busy import MINUTES, BusyTotals
from rolecall.extensions.console.page.trends.model import SeenTrends, TrendSpan
from rolecall.extensions.console.page.trends.packed import (
    CODES,
    FAILED,
    FAILING,
    NO_RUNS,
    UNTIMED,
    PackedCounts,
    duration_code,
    wait_code,
)
from rolecall.extensions.console.page.trends.series import (
    ALL,
    IntervalSeries,
    PlaceNumbers,
    RowsAt,
    TrendPlace,
)
from rolecall.gvk import Gvk
from rolecall.record import RunRecord
from rolecall.runner import outcome_of
from rolecall.workqueue import Key

MINUTE_S = 60.0
_QUARTER = 15  # minutes in an interval of the day
# Entries of four bytes.
_MOST_OF_HOUR, _MOST_OF_DAY = 200_000, 400_000
_MOST_ANSWERS = 16
_DAY = TrendSpan.DAY.intervals * _QUARTER

_FAILED = ("failed", "lost")
# Causes that differ in a number are one.
_NUMBERED = re.compile("(retry|edit)(?: of generation)? [0-9]+")

PlaceNumber = int  # the number of a place
_Counts = defaultdict[int, Counter[int]]  # of each interval


class KeptTurn(NamedTuple):
    """A run of before the engine began, from what is kept of it."""

    key: Key
    ended_s: float
    outcome: str
    seconds: float | None
    cause: str
    next_s: float | None  # when the next run of its CR ended; None: it was the last
    is_ours: bool  # the CR is still there, and this replica has it
    record: RunRecord | None = None


class _Asked(NamedTuple):
    """By the numbers of the places; the same for many readers."""

    places: frozenset[PlaceNumber]
    with_log: frozenset[PlaceNumber]
    kinds: frozenset[Gvk]
    may_read_log: bool
    span: TrendSpan


class _Answer(NamedTuple):
    stamp: int
    rows: RowsAt
    seen: SeenTrends


class Trends:
    def __init__(self, clock: Clock) -> None:
        self._clock, self._lock = clock, threading.Lock()
        # Times here are seconds on the clock that never jumps, so that minutes begin as on the wall.
        self._phase_s = clock.now().timestamp() - clock.monotonic()
        self._minute = int(self.now_s() // MINUTE_S)
        self._since_s = self.now_s()
        self._since_of: dict[PlaceNumber, float] = {}  # places of which less is known
        self._places = PlaceNumbers()
        self._live: dict[int, int] = {}  # counts of this minute
        self._failing: dict[PlaceNumber, set[str]] = {}  # names of CRs whose last run failed
        self._hour = IntervalSeries(TrendSpan.HOUR, _MOST_OF_HOUR, self._places)
        self._day = IntervalSeries(TrendSpan.DAY, _MOST_OF_DAY, self._places)
        self._tasks, self._causes = BusyTotals(), BusyTotals(by_times=True)
        self._answers: OrderedDict[_Asked, _Answer] = OrderedDict()
        self._stamp = 0  # counts changes
        self.is_asked = False  # whether anyone looked so far
        self.is_reading = True  # until kept runs were read
        self._ran: set[Key] | None = None  # of which turns ended while kept runs are read

    def now_s(self) -> float:
        return self._clock.monotonic() + self._phase_s

    def wall_of(self, moment_s: float) -> datetime:
        return self._clock.now() + timedelta(seconds=moment_s - self.now_s())

    def _whole_minute(self, moment_s: float) -> datetime:
        """The nearest one on the wall: its clock is read a moment apart from the one of `moment_s`, and
        may have been set.
        """
        found = self.wall_of(moment_s) + timedelta(seconds=MINUTE_S / 2)
        return found.replace(second=0, microsecond=0)

    def moment_of(self, wall: datetime) -> float:
        return self.now_s() + (wall - self._clock.now()).total_seconds()

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        with self._lock:
            self._advance()
            for each in turns:
                self._turn_ended(each)
            self._stamp += 1

    def keep_failing(self, is_ours: Callable[[Key], bool]) -> None:
        """Forget failing CRs that are gone, or that another replica has; end the minute."""
        with self._lock:
            places = self._places.by_number()
            for owner, names in list(self._failing.items()):
                gvk, namespace = places[owner]
                names &= {name for name in names if is_ours(Key(gvk, namespace, name))}
                if not names:
                    del self._failing[owner]
            self._advance()
            self._stamp += 1

    def places(self) -> set[TrendPlace]:
        """Of which anything is kept, also where no CR is any more."""
        with self._lock:
            return set(self._places.by_number().values())

    def seen(
        self, places: Collection[TrendPlace], with_log: Collection[TrendPlace], span: TrendSpan
    ) -> SeenTrends:
        """What a reader sees who may list the CRs of these places, and read the log of some of them."""
        self.is_asked = True
        with self._lock:
            self._advance()
            known = self._places.known(places)
            logs = self._places.known(with_log) & known
            kinds = frozenset(gvk for gvk, _ in places)
            asked = _Asked(known, logs, kinds, bool(with_log), span)
            before = self._answers.pop(asked, None)
            if before is not None and before.stamp == self._stamp:
                answer = before
            else:
                answer = self._answer(asked, before)
            self._answers[asked] = answer
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
            return answer.seen

    def begin_reading(self) -> None:
        """Kept runs are being read: what they leave behind is older than any turn."""
        with self._lock:
            self._ran = set()

    def known_since(self, place: TrendPlace, moment_s: float) -> None:
        """What ended at this place before that is not kept."""
        with self._lock:
            if (owner := self._places.of(place)) is not None:
                self._since_of[owner] = max(self._since_of.get(owner, 0.0), moment_s)
                self._stamp += 1

    def add_kept(self, turns: Sequence[KeptTurn]) -> None:
        """Some of them."""
        with self._lock:
            self._advance()
            of_hour: _Counts = defaultdict(Counter)
            of_day: _Counts = defaultdict(Counter)
            for each in turns:
                if (owner := self._places.of((each.key.gvk, each.key.namespace))) is not None:
                    self._add_kept(each, owner, of_hour, of_day)
            for series, counts in ((self._hour, of_hour), (self._day, of_day)):
                for number, more in counts.items():
                    series.merge(number, more)
            self._trim()
            self._answers.clear()
            self._stamp += 1

    def end_reading(self, since_s: float) -> None:
        """All were read that ended since then."""
        with self._lock:
            self._since_s = min(self._since_s, since_s)
            self._ran, self.is_reading = None, False
            self._stamp += 1

    def _turn_ended(self, ended: EndedTurn) -> None:
        key, trail = ended.turn.key, ended.outcome.trail
        if self._ran is not None:
            self._ran.add(key)
        owner = self._places.of((key.gvk, key.namespace))
        if owner is None:
            return
        result = trail.result if trail is not None else None
        is_failed = result is not None and outcome_of(result) == "failed"
        self._note_failing(owner, key.name, is_failed=is_failed)
        if result is None:
            return
        codes = _codes_of(outcome_of(result), result.seconds)
        if (wait := wait_code(ended.turn.waited_s)) is not None:
            codes = [*codes, wait]
        for code in codes:
            count = owner * CODES + code
            self._live[count] = self._live.get(count, 0) + 1
        self._note_cause(self._minute, owner, ended.turn.cause.text, result.seconds)
        self._note_tasks(self._minute, owner, ended.findings.of(RunRecord))

    def _note_failing(self, owner: PlaceNumber, name: str, *, is_failed: bool) -> None:
        if is_failed:
            self._failing.setdefault(owner, set()).add(name)
        elif names := self._failing.get(owner):
            names.discard(name)
            if not names:
                del self._failing[owner]

    def _note_cause(self, minute: int, owner: PlaceNumber, cause: str, seconds: float) -> None:
        text = _NUMBERED.sub(r"\1", cause)
        self._causes.add(minute // MINUTES, owner, text, "", seconds)

    def _note_tasks(self, minute: int, owner: PlaceNumber, record: RunRecord | None) -> None:
        if record is None:
            return
        for task in record.tasks:
            ended_s = record.ended_s if task.ended_s is None else task.ended_s
            if ended_s is not None:
                seconds = max(0.0, ended_s - task.began_s)
                self._tasks.add(minute // MINUTES, owner, task.name, task.place, seconds)

    def _add_kept(
        self, kept: KeptTurn, owner: PlaceNumber, of_hour: _Counts, of_day: _Counts
    ) -> None:
        minute, now = int(kept.ended_s // MINUTE_S), self._minute
        hour_begins = now - TrendSpan.HOUR.intervals
        for code in _codes_of(kept.outcome, kept.seconds):
            of_day[minute // _QUARTER][owner * CODES + code] += 1
            if minute > hour_begins:
                of_hour[minute][owner * CODES + code] += 1
        if minute > hour_begins:
            self._note_cause(minute, owner, kept.cause, kept.seconds or 0.0)
            self._note_tasks(minute, owner, kept.record)
        if kept.outcome not in _FAILED:
            return
        if kept.next_s is not None:
            until = int(kept.next_s // MINUTE_S)
        else:
            until = now if kept.is_ours else minute
            if kept.is_ours and self._ran is not None and kept.key not in self._ran:
                self._note_failing(owner, kept.key.name, is_failed=True)
        failing = owner * CODES + FAILING
        for number in range(max(minute, hour_begins), until):
            of_hour[number][failing] += 1
        for number in range(minute // _QUARTER, until // _QUARTER):
            of_day[number][failing] += 1

    def _advance(self) -> None:
        now = int(self.now_s() // MINUTE_S)
        self._minute = max(self._minute, now - _DAY)
        while self._minute < now:
            self._close_minute()
            self._stamp += 1

    def _close_minute(self) -> None:
        minute, counts = self._minute, self._counts_now()
        self._hour.merge(minute, counts, is_end=True)
        self._day.merge(minute // _QUARTER, counts, is_end=True)
        self._live = {}
        self._minute += 1
        self._trim()
        if self._minute % MINUTES == 0:
            for busy in (self._tasks, self._causes):
                busy.close(self._minute // MINUTES)
        if self._minute % _QUARTER == 0:
            self._forget_places()

    def _counts_now(self) -> dict[int, int]:
        failing = {owner * CODES + FAILING: len(names) for owner, names in self._failing.items()}
        return self._live | failing

    def _trim(self) -> None:
        before = self._hour.dropped, self._day.dropped
        self._hour.trim(self._minute)
        self._day.trim(self._minute // _QUARTER)
        if before != (self._hour.dropped, self._day.dropped):
            self._answers.clear()  # which show what is dropped

    def _forget_places(self) -> None:
        """Of which nothing is kept."""
        kept = (self._hour, self._day, self._tasks, self._causes)
        used = set(self._failing).union(*(each.owners() for each in kept))
        if self._places.keep(used):
            self._since_of = {each: self._since_of[each] for each in self._since_of.keys() & used}
            self._answers.clear()

    def _answer(self, asked: _Asked, before: _Answer | None) -> _Answer:
        span, places = asked.span, self._places
        series = self._hour if span is TrendSpan.HOUR else self._day
        now = int(self._minute * MINUTE_S // span.interval_s)
        live = PackedCounts(self._counts_now(), places.kind_of)
        kinds = {gvk: places.kinds.index(gvk) for gvk in asked.kinds if gvk in places.kinds}
        is_seen = places.flags(asked.places)
        found = series.rows(now, live, is_seen, kinds.values(), before.rows if before else None)
        has_log = places.flags(asked.with_log)
        nothing = (NO_RUNS,) * span.intervals
        since_s = max(
            self._since_s,
            (series.dropped + 1) * span.interval_s,
            (now - span.intervals + 1) * span.interval_s,
            *(self._since_of[each] for each in asked.places & self._since_of.keys()),
        )
        seen = SeenTrends(
            span,
            ended=self._whole_minute((now + 1) * span.interval_s),
            since=self.wall_of(since_s),
            is_reading=self.is_reading,
            all=found.rows[ALL],
            by_kind={
                gvk: found.rows[kinds[gvk]] if gvk in kinds else nothing for gvk in asked.kinds
            },
            slowest=self._tasks.rows(has_log, places.kind_of, places.kinds),
            noisiest=self._causes.rows(has_log, places.kind_of, places.kinds),
            may_read_log=asked.may_read_log,
        )
        return _Answer(self._stamp, found, seen)


def _codes_of(outcome: str, seconds: float | None) -> list[int]:
    """What is counted of a run. How long one took that was cancelled, or lost, means nothing."""
    if outcome == "cancelled" or seconds is None:
        return [UNTIMED, FAILED] if outcome in _FAILED else [UNTIMED]
    return [duration_code(seconds), FAILED] if outcome in _FAILED else [duration_code(seconds)]
