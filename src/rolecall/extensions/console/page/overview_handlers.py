"""The overview: collects what the user may see, for the view that shows it."""

from __future__ import annotations

import asyncio
import socket

from aiohttp import web

from rolecall.clock import time_text
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import html_answer, is_fragment
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import part_of
from rolecall.extensions.console.page.trends import ExpectedTasks, SeenTrends, Span, Trends
from rolecall.extensions.console.page.views import Replica


class OverviewPages:
    """Handlers; each gets the request and who asks."""

    def __init__(
        self,
        engine: EnginePorts,
        lookup: Lookup,
        layouts: Layouts,
        trends: Trends,
        expected: ExpectedTasks,
    ) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts
        self._trends, self._expected = trends, expected

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        counts = rows.counts(self._engine.facts.kinds)
        places = {(place.gvk, place.namespace) for place in rows.places}
        seen = await asyncio.to_thread(self._trends.seen, places, rows.with_log, Span.HOUR)
        replica = self._replica(seen)
        if is_fragment(request):
            return html_answer(views.overview_parts(counts, replica))
        return html_answer(views.overview(counts, replica, self._layouts.of(asker, position)))

    def _replica(self, seen: SeenTrends) -> Replica:
        facts = self._engine.facts
        return Replica(
            facts.version,
            socket.gethostname(),
            time_text(facts.began),
            self._engine.leads(),
            self._engine.leader(),
            part_of(self._engine),
            facts.server,
            float(seen.all[-2].runs),  # the last minute that is over,
        )
