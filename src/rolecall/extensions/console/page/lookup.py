"""The CR or run of a request, and whether the user may see it.

A user who may not see a CR gets the same response as for a CR that does not exist.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Container, Iterator, Sequence

from aiohttp import web

from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.choosing import Choosing, ChosenRows
from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.extensions.console.page.grouping import Group, RowGrouping
from rolecall.extensions.console.page.guard import Asker, RefusedError
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.rows import (
    CrRow,
    Query,
    SeenRows,
    without_run_content,
)
from rolecall.extensions.console.page.shown_tasks import RunsRead, ShownTasks
from rolecall.extensions.console.page.table import Table
from rolecall.extensions.console.page.turns import Turns
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_cr, read_run
from rolecall.workqueue import Key

_MOST_RUNS = 50
_EVENTS_AT_ONCE = 200
_SLICE_S = 0.003
_MOST_FOUND = 8  # lists of up to ten thousand rows, for all who ask the same
_PARTS = ("group", "version", "kind", "namespace", "name")
_NAMESPACE = re.compile(r"([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?")
_LONGEST_NAME = 253

_Place = tuple[Gvk, str]  # a kind, and a namespace
_Allowed = Callable[[Gvk, Collection[str]], Awaitable[Collection[str]]]


class Lookup:
    def __init__(self, ports: PagePorts, table: Table, feed: ChangeFeed) -> None:
        self._ports, self._table, self._feed = ports, table, feed
        self._engine: EnginePorts = ports.engine
        self._read = RunsRead()
        self.turns = Turns()
        self._working = asyncio.Lock()  # one at a time, in a thread

    async def key(self, request: web.Request, asker: Asker) -> Key:
        info = request.match_info
        key = places.key_of(*(info[part] for part in _PARTS))
        is_one = key.gvk in self._engine.facts.kinds and can_be(key)
        if not is_one or not await asker.reader.may_get(key):
            # The same response in both cases, so that it does not reveal whether the CR exists.
            raise RefusedError(
                404, f"There is no {key} that you may see", "Look for it among the objects."
            )
        return key

    async def run(
        self, request: web.Request, asker: Asker, part: str = "run"
    ) -> tuple[Key, KeptRun]:
        key, run, _ = await self.run_and_kept(request, asker, part)
        return key, run

    async def run_and_kept(
        self, request: web.Request, asker: Asker, part: str = "run"
    ) -> tuple[Key, KeptRun, Sequence[KeptRun]]:
        """With all runs of its CR that are kept, newest first."""
        key = await self.key(request, asker)
        if not await asker.reader.may_read_log(key):
            raise RefusedError(
                403,
                f"You may not read what runs of {key} did",
                f"This requires the right to get {self._engine.plurals().get(key.gvk, '')}/log of"
                f" {key.gvk.group or 'the core group'}.",
            )
        runs = await self.turns.in_thread(self.kept, key)
        named = [run for run in runs if run.run == request.match_info[part]]
        if not named:
            raise RefusedError(
                404, "This run is no longer kept", "Its object's page lists those that are."
            )
        return key, named[0], runs

    async def run_now(self, key: Key, run: KeptRun, asker: Asker) -> KeptRun:
        """The same run a moment later; raises `RefusedError` where the reader lost the right."""
        reader = asker.reader
        if not await reader.may_get(key) or not await reader.may_read_log(key):
            raise RefusedError(403, f"You may not read what runs of {key} did", "Reload its page.")
        return await self.turns.in_thread(read_run, run.folder)

    def kept(self, key: Key) -> list[KeptRun]:
        """Its newest runs that are kept, newest first; reads files."""
        cr = kept_cr(self._ports.root, key.gvk, key.namespace, key.name)
        return cr.runs(_MOST_RUNS)

    def last_run(self, key: Key) -> KeptRun | None:
        """The last one that ended; may read files."""
        return self._ports.last_runs.of(key)

    async def tasks(self, run: KeptRun) -> ShownTasks:
        tasks = self._read.of(run.folder)
        if not tasks.is_whole:
            await self._read_on(tasks)
            tasks.is_whole = run.outcome != "running"
        await self.turns.take()
        return tasks

    async def key_to_change(self, request: web.Request, asker: Asker) -> Key:
        key = await self.key(request, asker)
        if not await asker.reader.may_change(key):
            raise RefusedError(
                403, f"You may not change {key}", "This requires the right to patch it."
            )
        return key

    async def _read_on(self, tasks: ShownTasks) -> None:
        has_more = True
        while has_more:
            has_more = await self.turns.in_thread(tasks.read, _EVENTS_AT_ONCE)

    async def visible(self, keys: set[Key], asker: Asker) -> set[Key]:
        """Of changed CRs, those that this reader may know of."""
        there = {(key.gvk, key.namespace) for key in keys}
        seen = await self._places(there, asker.reader.seen_namespaces)
        return {key for key in keys if (key.gvk, key.namespace) in seen}

    async def row(self, key: Key, *, may_read_log: bool) -> tuple[CrRow | None, str]:
        """What the reader may know of a CR, and the position that this is of."""
        row = (await self._table.rows()).by_key.get(key)
        if row is not None and not may_read_log:
            row = without_run_content(row)
        return row, self._feed.position

    async def seen(self, asker: Asker) -> tuple[SeenRows, str]:
        """The rows that this reader may list, and the position that they are of."""
        rows = await self._table.rows()
        position = self._feed.position
        there = {(each.gvk, each.namespace) for each in rows.places}
        seen = await self._places(there, asker.reader.seen_namespaces)
        await self.turns.take()
        places = [each for each in rows.places if (each.gvk, each.namespace) in seen]
        with_log = await self._places(seen, asker.reader.namespaces_with_log)
        return SeenRows(places, frozenset(with_log), rows.found), position

    async def found(
        self, rows: SeenRows, query: Query, labelled: Container[Key] | None = None
    ) -> ChosenRows:
        """Those that a query means, in its order; made once for all who ask the same."""
        # An id is a place's as long as the rows are there, and what was found goes with them.
        what = frozenset(map(id, rows.places)), rows.with_log, query
        choosing = Choosing(rows, query, labelled)
        async with self._working:
            if labelled is None and what in rows.found:
                rows.found.move_to_end(what)
                known: ChosenRows = rows.found[what]
                return known
            await self._work(choosing.steps())
            if labelled is None:
                rows.found[what] = choosing.chosen
        while len(rows.found) > _MOST_FOUND:
            rows.found.popitem(last=False)
        return choosing.chosen

    async def grouped(self, grouping: RowGrouping) -> Sequence[Group]:
        async with self._working:
            await self._work(grouping.steps())
        return grouping.groups

    async def _work(self, steps: Iterator[None]) -> None:
        """In a thread, some milliseconds at a time: the loop waits for the interpreter meanwhile."""
        clock = self._engine.clock

        def is_done() -> bool:
            until_s = clock.monotonic() + _SLICE_S
            return all(clock.monotonic() < until_s for _ in steps)

        while not await self.turns.in_thread(is_done):
            pass

    async def _places(self, places: Collection[_Place], allowed: _Allowed) -> Collection[_Place]:
        """Those of these places in which the reader has a right."""
        by_kind: dict[Gvk, set[str]] = {}
        for gvk, namespace in places:
            by_kind.setdefault(gvk, set()).add(namespace)
        return {
            (gvk, namespace)
            for gvk, namespaces in by_kind.items()
            for namespace in await allowed(gvk, namespaces)
        }


def can_be(key: Key) -> bool:
    """Whether an object can have this name: its runs lie in a folder that is called so.

    Rights are asked of names as they are; one with `../` would lead to the runs of others.
    """
    name = key.name
    is_segment = name not in ("", ".", "..") and not set(name) & set("/\\%")
    is_name = is_segment and name.isprintable() and len(name) <= _LONGEST_NAME
    return is_name and _NAMESPACE.fullmatch(key.namespace) is not None
