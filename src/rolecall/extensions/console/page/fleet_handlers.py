"""The list of objects and its groups: collects what the user may see, for the view that shows it."""

from __future__ import annotations

from collections.abc import Container, Mapping

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import (
    HtmlAnswer,
    is_fragment,
    number_in,
    rows_answer,
)
from rolecall.extensions.console.page.choosing import FILTERS, ChosenRows, alone, without
from rolecall.extensions.console.page.grouping import BY_LABEL, GROUPINGS, RowGrouping, label_of
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.labels import Candidates, LabelReads
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.rows import Query, SeenRows
from rolecall.extensions.console.page.views import FleetPage, Groups, Window
from rolecall.workqueue import Key

_MOST_ROWS = 500
_LONGEST_WORD = 400  # two labels, with their keys


class FleetPages:
    """Handlers; each gets the request and who asks."""

    def __init__(self, engine: EnginePorts, lookup: Lookup, layouts: Layouts) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts
        self._labels = LabelReads(engine.clock)

    async def crs(self, request: web.Request, asker: Asker) -> web.Response:
        query, group = _query(request.query), _group(request.query)
        rows, position = await self._lookup.seen(asker)
        problem, chosen, groups = "", ChosenRows(), None
        try:
            chosen = await self._chosen(rows, query, asker)
            if group:
                groups = await self._groups(chosen, query, group, asker)
        except ClusterError as failure:
            problem = f"The cluster does not find this label: {failure.message}"
            if is_fragment(request):  # what was found before stays, and the script tries again
                return web.Response(status=502, text=problem)
        start, count = (
            number_in(request.query, "from"),
            number_in(request.query, "count") or views.CR_WINDOW,
        )
        some = [] if group else chosen.window(start, min(count, _MOST_ROWS))
        nothing = "" if chosen.rows or problem else await self._why_nothing(rows, query)
        window = Window(query, some, start, len(chosen), problem, nothing)
        fleet = FleetPage(window, self._kinds(), group, groups)
        if is_fragment(request) and group:
            return HtmlAnswer(await self._lookup.turns.in_thread(views.cr_groups, fleet))
        if is_fragment(request):
            # 25 ms for 500 of them
            rows_html = await self._lookup.turns.in_thread(views.fleet_rows, window)
            return rows_answer(rows_html, window.total, window.found)
        await self._lookup.turns.take()
        layout = self._layouts.of(asker, position)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.crs, fleet, layout))

    def _kinds(self) -> list[str]:
        return sorted({gvk.kind for gvk in self._engine.facts.kinds})

    async def _chosen(self, rows: SeenRows, query: Query, asker: Asker) -> ChosenRows:
        chosen = await self._lookup.found(rows, without(query, "label"))
        if not query.label:
            return chosen
        candidates = await self._candidates(chosen)
        having: Container[Key] = await self._labels.labelled(
            candidates, query.label, asker.reader.client
        )
        return await self._lookup.found(rows, query, having)

    async def _groups(
        self, chosen: ChosenRows, query: Query, group: str, asker: Asker
    ) -> Groups | None:
        values: Mapping[Key, str] = {}
        if label := label_of(group):
            candidates = await self._candidates(chosen)
            selector = ",".join(filter(None, (query.label, label)))
            values = await self._labels.labelled(candidates, selector, asker.reader.client, label)
        found = await self._lookup.grouped(RowGrouping(chosen, query, group, values))
        return Groups(found)

    async def _candidates(self, chosen: ChosenRows) -> Candidates:
        return await self._lookup.turns.in_thread(
            lambda: Candidates.of(row.key for row in chosen.rows)
        )

    async def _why_nothing(self, rows: SeenRows, query: Query) -> str:
        """The first filter that finds nothing even by itself, of what the reader may list."""
        for name in FILTERS:
            if name == "label" or not getattr(query, name):
                continue
            if not len(await self._lookup.found(rows, alone(query, name))):
                return name
        is_label = query.label and len(await self._lookup.found(rows, without(query, "label")))
        return "label" if is_label else "all"


def _query(words: Mapping[str, str]) -> Query:
    names = (*FILTERS, "sort")
    return Query(**{name: words.get(name, "").strip()[:_LONGEST_WORD] for name in names})


def _group(words: Mapping[str, str]) -> str:
    """What the list is grouped by; empty: nothing, or nothing that we know."""
    group = words.get("group", "")
    if group == BY_LABEL.rstrip(":"):  # of the form, where the key is in a field of its own
        group = f"{BY_LABEL}{words.get('key', '').strip()}"
    return group if group in GROUPINGS or label_of(group) else ""
