"""The overview, the list of objects and the page of each object: collects what the user may see, for
the view that shows it.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from rolecall.clock import time_text
from rolecall.errors import ClusterError
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import owned, views
from rolecall.extensions.console.page.answers import (
    html_answer,
    is_fragment,
    number_in,
    rows_answer,
)
from rolecall.extensions.console.page.differences import differences
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.labels import labelled
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import notice_of, part_of
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.rows import CrRow, Query, SeenRows
from rolecall.extensions.console.page.views import CrPage, OwnedObject, PageLayout, Replica, Window
from rolecall.history import KeptRun, read_spec
from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.workqueue import Key

_MOST_ROWS = 500
_MINUTE_S = 60.0


class CrPages:
    """Handlers; each gets the request and who asks."""

    def __init__(self, ports: PagePorts, lookup: Lookup, static: str) -> None:
        self._lookup = lookup
        self._engine: EnginePorts = ports.engine
        self._static = static
        self._ended: deque[float] = deque(maxlen=10_000)

    def run_ended(self) -> None:
        """Somewhere a run ended: what `runs in the last minute` counts."""
        self._ended.append(self._engine.clock.monotonic())

    def layout(self, asker: Asker | None, position: str = "", key: Key | None = None) -> PageLayout:
        """`key`: the CR that the page is about."""
        if asker is None:
            return PageLayout(static=self._static)
        return PageLayout(
            reader_name=asker.reader.name,
            is_local=asker.reader.is_local,
            form_token=asker.session.form_token,
            position=position,
            notice=notice_of(self._engine, key),
            static=self._static,
        )

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        counts = rows.counts(self._engine.facts.kinds)
        replica = self._replica()
        if is_fragment(request):
            return html_answer(views.overview_parts(counts, replica))
        return html_answer(views.overview(counts, replica, self.layout(asker, position)))

    async def crs(self, request: web.Request, asker: Asker) -> web.Response:
        query = _query(request)
        rows, position = await self._lookup.seen(asker)
        problem, chosen = "", await self._lookup.found(rows, query)
        try:
            if query.label:
                keys = [row.key for row in chosen]
                having = await labelled(keys, query.label, asker.reader.client)
                chosen = await self._lookup.found(rows, query, having)
        except ClusterError as failure:
            chosen = SeenRows(())
            problem = f"The cluster does not find this label: {failure.message}"
        start, count = (
            number_in(request.query, "from"),
            number_in(request.query, "count") or views.CR_WINDOW,
        )
        some = _some(chosen, start, min(count, _MOST_ROWS))
        window = Window(query, some, start, len(chosen), problem)
        if is_fragment(request):
            rows_html = await asyncio.to_thread(views.cr_rows, window)  # 25 ms for 500 of them
            return rows_answer(rows_html, window.total, window.found)
        kinds = sorted({gvk.kind for gvk in self._engine.facts.kinds})
        return html_answer(views.crs(window, kinds, self.layout(asker, position)))

    async def cr(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._lookup.key(request, asker)
        may_read_log = await asker.reader.may_read_log(key)
        row, position = await self._lookup.row(key, may_read_log=may_read_log)
        shown = await self._cr_page(key, row, asker, may_read_log=may_read_log)
        await self._lookup.turns.take()
        layout = self.layout(asker, position, key)
        page = views.cr_parts if is_fragment(request) else views.cr
        return html_answer(await asyncio.to_thread(page, shown, layout))  # maybe of megabytes

    async def _cr_page(
        self, key: Key, row: CrRow | None, asker: Asker, *, may_read_log: bool
    ) -> CrPage:
        problems: list[str] = []
        cr: Json | None = None
        try:
            cr = await asker.reader.client.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            pass
        except ClusterError as failure:
            problems.append(f"It could not be read: {failure.message}")
        runs = await asyncio.to_thread(self._lookup.kept, key)
        things, unseen = list[OwnedObject](), 0
        if may_read_log and cr is not None:
            wanted = await asyncio.to_thread(owned.wanted_by, runs)
            things = await owned.as_they_are(wanted, key, cr, asker.reader.client)
            unseen = max(0, len(wanted) - owned.MOST)
        return CrPage(
            key,
            row,
            cr,
            runs,
            things,
            # A kept spec may hold what its CR, which the reader may get, holds no more.
            await asyncio.to_thread(_changes_since, runs, cr) if may_read_log else None,
            await asker.reader.may_change(key),
            may_read_log,
            problems,
            self._engine.acts().get(key, ()) if may_read_log else (),
            unseen,
        )

    def _replica(self) -> Replica:
        facts, now = self._engine.facts, self._engine.clock.monotonic()
        while self._ended and now - self._ended[0] > _MINUTE_S:
            self._ended.popleft()
        return Replica(
            facts.version,
            socket.gethostname(),
            time_text(facts.began),
            self._engine.leads(),
            self._engine.leader(),
            part_of(self._engine),
            facts.server,
            float(len(self._ended)),
        )


def _changes_since(runs: list[KeptRun], cr: Json | None) -> list[tuple[str, Any, Any]] | None:
    """Of the spec, since the newest good run that kept it; reads a file."""
    if cr is None:
        return None
    for run in runs:
        if run.outcome == "succeeded" and (then := read_spec(run.folder)) is not None:
            try:
                return differences(then, cr.get("spec") or {})
            except RecursionError:  # nested too deep to be readable
                return None
    return None


def _some(rows: Sequence[CrRow] | SeenRows, start: int, count: int) -> Sequence[CrRow]:
    if isinstance(rows, SeenRows):
        return rows.window(start, count)
    return rows[start : start + count]


def _query(request: web.Request) -> Query:
    asked = request.query
    names = ("kind", "namespace", "name", "state", "label")
    return Query(*(asked.get(name, "").strip()[:253] for name in names))
