"""The overview, and kinds over time: collects what the user may see, for the views that show it."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from aiohttp import web

from rolecall.clock import time_text
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import HtmlAnswer, is_fragment
from rolecall.extensions.console.page.failures import FailureReasons, grouped
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.kind_changes import moment_of
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import part_of
from rolecall.extensions.console.page.rows import CrRow, SeenRows
from rolecall.extensions.console.page.trends import ExpectedTasks, SeenTrends, Trends, TrendSpan
from rolecall.extensions.console.page.views import (
    MOST_RUNNING,
    KindsPage,
    OverviewPage,
    Replica,
    RunProgress,
)
from rolecall.workqueue import Key

_LONGEST_MOMENT = 40


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
        self._reasons = FailureReasons(lookup.last_run, lookup.kept)

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        span = TrendSpan.DAY if request.query.get("span") == "day" else TrendSpan.HOUR
        shown = await self._overview(rows, span)
        await self._lookup.turns.take()
        if is_fragment(request):
            return HtmlAnswer(await self._lookup.turns.in_thread(views.overview_parts, shown))
        layout = self._layouts.of(asker, position)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.overview, shown, layout))

    async def kinds(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        trends = await self._seen_trends(rows, TrendSpan.DAY)
        choice = request.query.get("since", "1h")[:_LONGEST_MOMENT]
        shown = KindsPage(trends, moment_of(choice, self._engine.clock.now()), choice)
        layout = self._layouts.of(asker, position)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.kinds, shown, layout))

    async def _overview(self, rows: SeenRows, span: TrendSpan) -> OverviewPage:
        counts = rows.counts(self._engine.facts.kinds)
        failures = await self._lookup.turns.in_thread(grouped, rows)
        hour = await self._seen_trends(rows, TrendSpan.HOUR)
        return OverviewPage(
            counts,
            self._replica(hour),
            hour if span is TrendSpan.HOUR else await self._seen_trends(rows, span),
            await self._lookup.turns.in_thread(self._reasons.whole, failures),
            await self._progress(counts.running[:MOST_RUNNING], rows),
        )

    async def _progress(self, running: Sequence[CrRow], rows: SeenRows) -> dict[Key, RunProgress]:
        """Of those whose log the reader may read."""
        shown = [row for row in running if (row.key.gvk, row.key.namespace) in rows.with_log]
        expected = await self._expected.of((row.key, row.run) for row in shown)
        return {
            row.key: RunProgress(row.tasks, expected.get(row.key), row.waits_since) for row in shown
        }

    async def _seen_trends(self, rows: SeenRows, span: TrendSpan) -> SeenTrends:
        places = [(place.gvk, place.namespace) for place in rows.places]
        return await self._lookup.turns.in_thread(self._trends.seen, places, rows.with_log, span)

    def _replica(self, hour: SeenTrends) -> Replica:
        facts = self._engine.facts
        return Replica(
            facts.version,
            socket.gethostname(),
            time_text(facts.began),
            self._engine.leads(),
            self._engine.leader(),
            part_of(self._engine),
            facts.server,
            float(hour.all[-2].runs),  # of the last minute that is over
        )
