"""The overview: collects what the user may see, for the view that shows it."""

from __future__ import annotations

import socket
from collections import deque

from aiohttp import web

from rolecall.clock import time_text
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.answers import html_answer, is_fragment
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import part_of
from rolecall.extensions.console.page.views import Replica

_MINUTE_S = 60.0


class OverviewPages:
    """Handlers; each gets the request and who asks."""

    def __init__(self, engine: EnginePorts, lookup: Lookup, layouts: Layouts) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts
        self._ended: deque[float] = deque(maxlen=10_000)

    def run_ended(self) -> None:
        """Somewhere a run ended: what `runs in the last minute` counts."""
        self._ended.append(self._engine.clock.monotonic())

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._lookup.seen(asker)
        counts = rows.counts(self._engine.facts.kinds)
        replica = self._replica()
        if is_fragment(request):
            return html_answer(views.overview_parts(counts, replica))
        return html_answer(views.overview(counts, replica, self._layouts.of(asker, position)))

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
