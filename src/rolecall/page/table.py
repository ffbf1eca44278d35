"""All CRs as rows, kept while somebody looks: what lists, counts and their changes are made of.

The hard part is ten thousand of them. A row is a tuple; rows are made in a thread, no sooner than
twenty times the time that it took after the last time, and what differs goes into the feed. What
the last run of a CR came to lies in files: those that nobody read yet are read a few at a time, and
such a CR is `unknown` until then. When nobody has looked for a minute, nothing is kept.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rolecall.clock import Clock
from rolecall.control import Snapshot, Wall, snapshot
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.page.feed import Feed
from rolecall.page.ports import PagePorts
from rolecall.workqueue import Key

STATES = ("running", "waiting", "failed", "paused", "unknown", "ready")
_SHORTEST_PAUSE_S = 0.5
_PAUSES_PER_WORK = 20
_KEPT_S = 60.0
_FILES_READ_S = 0.3


class Row(NamedTuple):
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
    running: list[Row] = field(default_factory=list)


class Table:
    def __init__(self, ports: PagePorts, feed: Feed) -> None:
        self._ports, self._feed = ports, feed
        self._clock: Clock = ports.engine.clock
        self._wall = Wall(self._clock)
        self._rows: dict[Key, Row] = {}
        self._lock = asyncio.Lock()
        self._fresh_until_s = float("-inf")
        self._asked_s = float("-inf")

    async def rows(self) -> Mapping[Key, Row]:
        """All of them, by kind, namespace and name; at most some moments old."""
        self._asked_s = self._clock.monotonic()
        await self._renew()
        return self._rows

    async def run(self) -> None:
        """Renew while somebody looked not long ago, until cancelled."""
        while True:
            await self._clock.sleep(_SHORTEST_PAUSE_S)
            idle_s = self._clock.monotonic() - self._asked_s
            if idle_s <= _KEPT_S:
                await self._renew()
            elif self._rows:
                self._rows = {}
                self._fresh_until_s = float("-inf")

    async def _renew(self) -> None:
        async with self._lock:
            began = self._clock.monotonic()
            if began < self._fresh_until_s:
                return
            taken, before = snapshot(self._ports.engine, self._wall), self._rows
            rows, changed = await asyncio.to_thread(self._made, taken, before)
            ended = self._clock.monotonic()
            pause_s = max(_SHORTEST_PAUSE_S, (ended - began) * _PAUSES_PER_WORK)
            self._fresh_until_s = ended + min(pause_s, _KEPT_S / 2)
            self._rows = rows
            if before:
                self._feed.add(changed)

    def _made(self, taken: Snapshot, before: Mapping[Key, Row]) -> tuple[dict[Key, Row], set[Key]]:
        until_s = self._clock.monotonic() + _FILES_READ_S
        last_runs = self._ports.last_runs

        def may_read() -> bool:
            return self._clock.monotonic() < until_s

        rows = {key: _row(key, cr) for key, cr in taken.crs(last_runs, may_read)}
        changed = {key for key, row in rows.items() if before.get(key) != row}
        return rows, changed | (before.keys() - rows.keys())


def counted(rows: Iterable[Row], kinds: Sequence[Gvk]) -> Counts:
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
    rows: Iterable[Row], query: Query, labelled: frozenset[tuple[str, str]] | None
) -> list[Row]:
    """Those that a query means; `labelled`: namespace and name of those with its label."""
    kind, name = query.kind.lower(), query.name.lower()
    return [
        row
        for row in rows
        if kind in ("", row.key.gvk.kind.lower())
        and query.namespace in ("", row.key.namespace)
        and query.state in ("", row.state)
        and name in row.key.name.lower()
        and (labelled is None or (row.key.namespace, row.key.name) in labelled)
    ]


def _row(key: Key, cr: Json) -> Row:
    last = cr.get("last") or {}
    since = {"running": "task_since", "waiting": "waiting_since"}.get(cr["state"])
    return Row(
        key,
        cr["state"],
        cr["generation"],
        cr["run"] or "",
        cr["task"],
        cr["place"],
        str((cr.get(since) if since else last.get("ended")) or ""),
        cr["cause"],
        cr["urgency"] or "",
        last.get("run") or "",
        last.get("outcome") or "",
        last.get("ended") or "",
        last.get("reason") or "",
        cr["next_at"] or "",
        cr["next_why"] or "",
    )
