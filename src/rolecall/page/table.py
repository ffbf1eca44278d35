"""All CRs as rows, kept while somebody looks: what lists, counts and their changes are made of.

The hard part is ten thousand of them. A row is a tuple; rows are made in a thread, no sooner than
twenty times the time that it took after the last time, and what differs goes into the feed. What
the last run of a CR came to lies in files: those that nobody read yet are read a few at a time, and
such a CR is `unknown` until then. When nobody has looked for a minute, nothing is kept.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rolecall.clock import Clock
from rolecall.control import Snapshot, Wall, snapshot
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.page.feed import ChangeFeed
from rolecall.page.ports import PagePorts
from rolecall.workqueue import Key

STATES = ("running", "waiting", "failed", "paused", "unknown", "ready")
_SHORTEST_PAUSE_S = 0.5
_PAUSES_PER_WORK = 20
_KEPT_S = 60.0
_FILES_READ_S = 0.3
# Ten thousand rows are kept, and what a play said may be long.
_LONGEST_WORDS = 300


class CrRow(NamedTuple):
    """One CR; times are texts, as they are shown."""

    key: Key
    state: str
    generation: int | None
    run: str  # in flight
    task: str
    place: str
    since: str  # since when the task runs, the key waits, or the last run is over
    cause: str
    urgency: str
    last_run: str
    last_outcome: str
    last_ended: str
    last_reason: str
    next_at: str
    next_why: str


@dataclass(frozen=True, slots=True)
class Query:
    """Which CRs are meant."""

    kind: str = ""
    namespace: str = ""
    name: str = ""  # a part of it
    state: str = ""
    label: str = ""


@dataclass(slots=True)
class Counts:
    """How many CRs of each kind are in each state, and what waits and runs."""

    by_kind: dict[Gvk, Counter[str]] = field(default_factory=dict)
    by_urgency: Counter[str] = field(default_factory=Counter)
    running: list[CrRow] = field(default_factory=list)


class Table:
    def __init__(self, ports: PagePorts, feed: ChangeFeed) -> None:
        self._ports, self._feed = ports, feed
        self.clock: Clock = ports.engine.clock
        self._wall = Wall(self.clock)
        self._rows: dict[Key, CrRow] | None = None  # None: nobody looked for long
        self._lock = asyncio.Lock()
        self._fresh_until_s = 0.0
        self._asked_s = float("-inf")

    async def rows(self) -> Mapping[Key, CrRow]:
        """All of them, by kind, namespace and name; at most some moments old."""
        self._asked_s = self.clock.monotonic()
        return await self._renewed()

    async def run(self) -> None:
        """Renew while somebody looked not long ago, until cancelled."""
        while True:
            await self.clock.sleep(_SHORTEST_PAUSE_S)
            idle_s = self.clock.monotonic() - self._asked_s
            if idle_s <= _KEPT_S:
                await self._renewed()
            elif self._rows is not None:
                self._forget()

    async def _renewed(self) -> Mapping[Key, CrRow]:
        async with self._lock:
            began, before = self.clock.monotonic(), self._rows
            if before is not None and began < self._fresh_until_s:
                return before
            taken = snapshot(self._ports.engine, self._wall)
            rows, changed = await asyncio.to_thread(self._made, taken, before or {})
            ended = self.clock.monotonic()
            pause_s = max(_SHORTEST_PAUSE_S, (ended - began) * _PAUSES_PER_WORK)
            self._fresh_until_s = ended + min(pause_s, _KEPT_S / 2)
            self._rows = rows
            if before is not None:
                self._feed.add(changed)
            return rows

    def _forget(self) -> None:
        """What changes from now on is seen by nobody: whoever comes back looks at everything."""
        self._rows = None
        self._feed.begin_anew()

    def _made(
        self, taken: Snapshot, before: Mapping[Key, CrRow]
    ) -> tuple[dict[Key, CrRow], set[Key]]:
        until_s = self.clock.monotonic() + _FILES_READ_S
        last_runs = self._ports.last_runs

        def may_read() -> bool:
            return self.clock.monotonic() < until_s

        rows = {key: _row(key, cr) for key, cr in taken.crs(last_runs, may_read)}
        changed = {key for key, row in rows.items() if before.get(key) != row}
        return rows, changed | (before.keys() - rows.keys())


def counted(rows: Iterable[CrRow], kinds: Sequence[Gvk]) -> Counts:
    """What an overview tells; kinds without CRs, too."""
    counts = Counts({gvk: Counter() for gvk in kinds})
    for row in rows:
        counts.by_kind.setdefault(row.key.gvk, Counter())[row.state] += 1
        if row.state == "waiting":
            counts.by_urgency[row.urgency] += 1
        elif row.state == "running":
            counts.running.append(row)
    return counts


def found(
    rows: Iterable[CrRow], query: Query, labelled: Container[Key] | None = None
) -> list[CrRow]:
    """Those that a query means; `labelled`: those with its label, where it asks for one."""
    kind, name = query.kind.lower(), query.name.lower()
    return [
        row
        for row in rows
        if kind in ("", row.key.gvk.kind.lower())
        and query.namespace in ("", row.key.namespace)
        and query.state in ("", row.state)
        and name in row.key.name.lower()
        and (labelled is None or row.key in labelled)
    ]


def _row(key: Key, cr: Json) -> CrRow:
    last = cr.get("last") or {}
    since = {"running": "task_since", "waiting": "waiting_since"}.get(cr["state"])
    return CrRow(
        key,
        cr["state"],
        cr["generation"],
        cr["run"] or "",
        cr["task"][:_LONGEST_WORDS],
        cr["place"][:_LONGEST_WORDS],
        str((cr.get(since) if since else last.get("ended")) or ""),
        cr["cause"][:_LONGEST_WORDS],
        cr["urgency"] or "",
        last.get("run") or "",
        last.get("outcome") or "",
        last.get("ended") or "",
        (last.get("reason") or "")[:_LONGEST_WORDS],
        cr["next_at"] or "",
        cr["next_why"] or "",
    )
