"""CRs as rows, by kind and namespace: what one reader sees is some of these places, whole.

So an overview adds up a few counts, however many CRs there are. What a list shows is chosen and put in
order by `choosing.py`.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from rolecall.clock import time_text
from rolecall.extending import HeldFacts, HeldRun
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

_SHORTEST_NAME = 4  # a shorter one may be a part of any word
_LONGEST_PLAIN = 200
# A word with a digit differs from CR to CR: an id, an address, a time; not so an exit code, a status.
_VARIES = re.compile(r"(?<![\w.…-])(?!\d{1,3}(?![\w-]|[./:]\w))[\w./:…-]*\d[\w./:…-]*")
# Of tasks and causes, which are kept, and of reasons as lists show them.
LONGEST_WORDS = 300
_LONGEST_S = 1e9  # what is longer was not measured
FAILED_OUTCOMES = ("failed", "lost")
NOTHING_HELD = HeldFacts("", None, None, None, None, "", outcome="")


class Live(NamedTuple):
    """What a run in flight is at, or what a key waits for."""

    since_s: float
    cause: str
    run: str = ""
    task: str = ""
    place: str = ""
    urgency: str = ""
    tasks: int = 0  # that began so far
    waits_since_s: float | None = None  # for something outside


class NextRun(NamedTuple):
    at_s: float
    why: str


class CrRow(NamedTuple):
    """One CR. Ten thousand are kept, so it has only what changes are found by; the rest is made of it
    for those that are shown.
    """

    key: Key
    state: str
    generation: int | None
    live: Live | None = None
    last: HeldRun | None = None  # the same that the engine holds
    next: NextRun | None = None

    @property
    def facts(self) -> HeldFacts:
        """Of the last run."""
        return NOTHING_HELD if self.last is None else self.last.facts

    @property
    def is_failing(self) -> bool:
        """Also while its next run waits or runs: only a good one ends a failure."""
        if self.state in ("running", "waiting"):
            return self.facts.outcome in FAILED_OUTCOMES
        return self.state == "failed"

    @property
    def run(self) -> str:
        """The one in flight."""
        return self.live.run if self.live else ""

    @property
    def tasks(self) -> int:
        """Of the run in flight that began so far."""
        return self.live.tasks if self.live else 0

    @property
    def waits_since(self) -> str:
        """Of the run in flight: for something outside."""
        return _text(self.live.waits_since_s if self.live else None)

    @property
    def task(self) -> str:
        return self.live.task if self.live else ""

    @property
    def place(self) -> str:
        return self.live.place if self.live else ""

    @property
    def cause(self) -> str:
        return self.live.cause if self.live else ""

    @property
    def urgency(self) -> str:
        return self.live.urgency if self.live else ""

    @property
    def since_s(self) -> float | None:
        """Since when the task runs, the key waits, or the last run is over."""
        return self.live.since_s if self.live else self.facts.ended_s

    @property
    def since(self) -> str:
        return _text(self.since_s)

    @property
    def last_run(self) -> str:
        return self.facts.run

    @property
    def last_outcome(self) -> str:
        return self.facts.outcome

    @property
    def last_ended(self) -> str:
        return _text(self.facts.ended_s)

    @property
    def took(self) -> str:
        """How long the last run took."""
        return duration(self.facts.seconds)

    @property
    def last_reason(self) -> str:
        return self.facts.reason[:LONGEST_WORDS]

    @property
    def plain_reason(self) -> str:
        """The same for CRs that fail for one reason, which may name each; empty: there is none."""
        reason = self.last_reason
        for name in (self.key.name, self.key.namespace):
            if len(name) >= _SHORTEST_NAME:
                reason = reason.replace(name, "…")
        reason = _VARIES.sub("…", reason).encode(errors="replace").decode()
        return " ".join(reason.split())[:_LONGEST_PLAIN].strip()

    @property
    def next_at(self) -> str:
        return _text(self.next.at_s if self.next else None)

    @property
    def next_why(self) -> str:
        return self.next.why if self.next else ""


def without_run_content(row: CrRow) -> CrRow:
    """The row for a reader without the right to `get` the subresource `log` of its CR."""
    live, last, follows = row.live, row.last, row.next
    return row._replace(
        live=live and live._replace(task="", place="", cause="", tasks=0, waits_since_s=None),
        last=last and last.without_content(),
        next=follows and follows._replace(why=""),
    )


def duration(seconds: float | None) -> str:
    """In two units at most: `0.9 s`, `3 min 5 s`, `2 h 7 min`; empty where it is not known."""
    if seconds is None or not 0 <= seconds < _LONGEST_S:
        return ""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for length, unit, part, small in ((3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= length:
            rest = whole % length // part
            return (
                f"{whole // length} {unit} {rest} {small}" if rest else f"{whole // length} {unit}"
            )
    return f"{whole} s"


def _text(moment_s: float | None) -> str:
    return "" if moment_s is None else time_text(datetime.fromtimestamp(moment_s, UTC))


@dataclass(frozen=True, slots=True)
class Query:
    """Which CRs are meant, in which order."""

    kind: str = ""
    namespace: str = ""
    name: str = ""  # a part of it
    state: str = ""
    failing: str = ""  # yes or no
    label: str = ""
    reason: str = ""  # a part of it
    same: str = ""  # reasons that differ in names alone; see `choosing.py`
    cause: str = ""  # a part of it
    sort: str = ""


@dataclass(slots=True)
class Counts:
    """How many CRs of each kind are in each state, and what waits and runs."""

    by_kind: dict[Gvk, Counter[str]] = field(default_factory=dict)
    by_urgency: Counter[str] = field(default_factory=Counter)
    running: list[CrRow] = field(default_factory=list)


@dataclass(slots=True)
class PlaceRows:
    """The CRs of one kind in one namespace, by name."""

    gvk: Gvk
    namespace: str
    rows: list[CrRow] = field(default_factory=list)
    by_state: Counter[str] = field(default_factory=Counter)
    by_urgency: Counter[str] = field(default_factory=Counter)
    running: list[CrRow] = field(default_factory=list)
    failing: dict[str, list[CrRow]] = field(default_factory=dict)  # by plain reason

    def add(self, row: CrRow) -> None:
        self.rows.append(row)
        self.by_state[row.state] += 1
        if row.state == "waiting":
            self.by_urgency[row.urgency] += 1
        elif row.state == "running":
            self.running.append(row)
        if row.is_failing:
            self.failing.setdefault(row.plain_reason, []).append(row)


@dataclass(frozen=True, slots=True)
class AllRows:
    """All CRs at one moment."""

    by_key: Mapping[Key, CrRow] = field(default_factory=dict)
    places: Sequence[PlaceRows] = ()  # by kind and namespace
    found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)  # lists of them


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Those that one reader may list; without run content where the reader may not read logs."""

    places: Sequence[PlaceRows]
    with_log: frozenset[tuple[Gvk, str]] = frozenset()
    found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)  # for all readers

    def __len__(self) -> int:
        return sum(len(place.rows) for place in self.places)

    def __iter__(self) -> Iterator[CrRow]:
        return chain.from_iterable(self._shown(place, place.rows) for place in self.places)

    def counts(self, kinds: Sequence[Gvk]) -> Counts:
        """The counts that the overview shows; also for kinds without CRs."""
        counts = Counts({gvk: Counter() for gvk in kinds})
        for place in self.places:
            counts.by_kind.setdefault(place.gvk, Counter()).update(place.by_state)
            counts.by_urgency.update(place.by_urgency)
            counts.running += self._shown(place, place.running)
        return counts

    def _shown(self, place: PlaceRows, rows: Iterable[CrRow]) -> Iterable[CrRow]:
        may_read_log = (place.gvk, place.namespace) in self.with_log
        return rows if may_read_log else map(without_run_content, rows)
