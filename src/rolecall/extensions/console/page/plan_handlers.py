"""What a run of a CR would change now: asked for once, made by the engine, shown as a diff.

A plan costs as much as a run, and shows what the operator may read. So it takes the right to patch the
CR, by which the same run could be had, and the right to read the log of its runs; both also to look at
a plan that another reader asked for.
"""

from __future__ import annotations

import logging

from aiohttp import web

from rolecall.extensions.console.page import places, views
from rolecall.extensions.console.page.actions import Actions
from rolecall.extensions.console.page.answers import HtmlAnswer, is_fragment
from rolecall.extensions.console.page.guard import Asker, Guard, RefusedError, redirect
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.plans import Plans, TooManyPlansError
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.views import PlanPage
from rolecall.log_fields import log_fields
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)


class PlanPages:
    def __init__(
        self, ports: PagePorts, lookup: Lookup, layouts: Layouts, guard: Guard, actions: Actions
    ) -> None:
        self._engine, self._lookup, self._layouts = ports.engine, lookup, layouts
        self._guard, self._actions = guard, actions
        self.plans = Plans(ports.plan, ports.engine.clock)

    async def plan(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._lookup.key(request, asker)
        lacking = await self._lacking(key, asker)
        shown = PlanPage(key, lacking, None if lacking else self.plans.of(key))
        if is_fragment(request):
            return HtmlAnswer(views.plan_parts(shown))
        return HtmlAnswer(views.plan(shown, self._layouts.of(asker, key=key)))

    async def ask(self, request: web.Request, asker: Asker) -> web.Response:
        await self._guard.checked(request, asker)
        key = await self._lookup.key_to_change(request, asker)
        if lacking := await self._lacking(key, asker):
            raise RefusedError(403, f"You may not plan a run of {key}", f"You lack {lacking[0]}.")
        self._actions.check_works_on(key)
        try:
            self.plans.ask(key, asker.reader.name)
        except TooManyPlansError:
            raise RefusedError(
                429, "Too many plans wait already", "Ask again when some of them are done."
            ) from None
        fields = log_fields(what="plan", key=str(key), by=asker.reader.name)
        _logger.info("asked for on the page", extra=fields)
        return redirect(places.of_plan(key))

    async def _lacking(self, key: Key, asker: Asker) -> list[str]:
        """The rights that a plan takes and this reader does not have."""
        plural = self._engine.plurals().get(key.gvk, "")
        where = f"{plural} of {key.gvk.group or 'the core group'}"
        lacking = []
        if not await asker.reader.may_change(key):
            lacking.append(f"the right to patch {where}")
        if not await asker.reader.may_read_log(key):
            lacking.append(f"the right to get {plural}/log of {key.gvk.group or 'the core group'}")
        return lacking
