"""The overview, and kinds over time: collects what the user may see, for the views that show it."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence

from aiohttp import web

from rolecall.clock import time_text
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import html_answer, is_fragment
from rolecall.extensions.console.page.failures import FailureReasons, grouped
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.kind_changes import moment_of
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import part_of
from rolecall.extensions.console.page.rows import PlaceRows, SeenRows
from rolecall.extensions.console.page.trends import SeenTrends, Span
from rolecall.extensions.console.page.views import KindsPage, OverviewPage, Replica
from rolecall.gvk import Gvk

_MINUTE_S = 60.0
_LONGEST_MOMENT = 40

SeesTrends = Callable[[Sequence[PlaceRows], frozenset[tuple[Gvk, str]], Span], SeenTrends]


class OverviewPages:
    """Handlers; each gets the request and who asks."""

    def __init__(
        self, engine: EnginePorts, lookup: Lookup, layouts: Layouts, sees_trends: SeesTrends
    ) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts
        self._sees_trends = sees_trends
        self._reasons = FailureReasons(lookup.last_run, lookup.kept)
        self._ended: deque[float] = deque(maxlen=10_000)

    def run_ended(self) -> None:
        """Somewhere a run ended: what `runs in the last minute` counts."""
        self._ended.append(self._engine.clock.monotonic())

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        span = Span.DAY if request.query.get("span") == "day" else Span.HOUR
        shown = await self._overview(rows, span)
        await self._lookup.turns.take()
        if is_fragment(request):
            return html_answer(await asyncio.to_thread(views.overview_parts, shown))
        layout = self._layouts.of(asker, position)
        return html_answer(await asyncio.to_thread(views.overview, shown, layout))

    async def kinds(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        trends = await asyncio.to_thread(self._sees_trends, rows.places, rows.with_log, Span.DAY)
        choice = request.query.get("since", "1h")[:_LONGEST_MOMENT]
        shown = KindsPage(trends, moment_of(choice, self._engine.clock.now()), choice)
        layout = self._layouts.of(asker, position)
        return html_answer(await asyncio.to_thread(views.kinds, shown, layout))

    async def _overview(self, rows: SeenRows, span: Span) -> OverviewPage:
        failures = await asyncio.to_thread(grouped, rows)
        return OverviewPage(
            rows.counts(self._engine.facts.kinds),
            self._replica(),
            await asyncio.to_thread(self._sees_trends, rows.places, rows.with_log, span),
            await asyncio.to_thread(self._reasons.whole, failures),
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
