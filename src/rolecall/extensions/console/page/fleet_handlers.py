"""The list of objects: collects what the user may see, for the view that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import (
    html_answer,
    is_fragment,
    number_in,
    rows_answer,
)
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.labels import labelled
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.rows import CrRow, Query, SeenRows
from rolecall.extensions.console.page.views import Window

_MOST_ROWS = 500


class FleetPages:
    """Handlers; each gets the request and who asks."""

    def __init__(self, engine: EnginePorts, lookup: Lookup, layouts: Layouts) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts

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
        return html_answer(views.crs(window, kinds, self._layouts.of(asker, position)))


def _some(rows: Sequence[CrRow] | SeenRows, start: int, count: int) -> Sequence[CrRow]:
    if isinstance(rows, SeenRows):
        return rows.window(start, count)
    return rows[start : start + count]


def _query(request: web.Request) -> Query:
    asked = request.query
    names = ("kind", "namespace", "name", "state", "label")
    return Query(*(asked.get(name, "").strip()[:253] for name in names))
