"""What a reader may have done: a run now, the end of a run, a pause, its end. As the reader, never as
the operator. Each is asked about once, on a page that says what will happen and which right it takes.

A run is asked of the queue, which knows no users; so it takes the right to patch the CR, by which
the same could be had with an annotation. So does the end of a run.
"""

from __future__ import annotations

import logging

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extensions.console.division import KeyHolders
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.answers import HtmlAnswer, form_of, is_fragment
from rolecall.extensions.console.page.guard import Asker, Guard, RefusedError, redirect
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import who_works
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.views import Ask, ask, ask_parts, patch_right
from rolecall.log_fields import log_fields
from rolecall.reconcile import Progress, pausing, resuming
from rolecall.workqueue import PERSON, Key

_LONGEST_REASON = 500
_logger = logging.getLogger(__name__)


class Actions:
    def __init__(self, ports: PagePorts, lookup: Lookup, guard: Guard, layouts: Layouts) -> None:
        self._ports, self._lookup, self._guard, self._layouts = ports, lookup, guard, layouts

    async def ask(self, request: web.Request, asker: Asker) -> web.Response:
        """What the action of this address would do, and whether the reader may have it done."""
        key = await self._lookup.key(request, asker)
        action, run_id = request.match_info["action"], request.query.get("run", "")
        run = self._shown_run(key, run_id) if action == "stop" else None
        may_read_log = await asker.reader.may_read_log(key)
        row, _ = await self._lookup.row(key, may_read_log=may_read_log)
        asked = Ask(
            key,
            action,
            patch_right(key, self._ports.engine.plurals().get(key.gvk, "")),
            await asker.reader.may_change(key),
            self._why_not(action, key),
            run_id,
            run.task if run is not None and may_read_log else "",
            is_running=key in self._ports.engine.in_flight(),
            is_paused=row is not None and row.state == "paused",
        )
        view = ask_parts if is_fragment(request) else ask
        return HtmlAnswer(view(asked, self._layouts.of(asker, key=key)))

    async def reconcile(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._asked(request, asker)
        self.check_works_on(key)
        self._ports.engine.reconcile(key, PERSON)
        _log_request("reconcile", key, asker)
        return redirect(places.of_cr(key))

    async def stop(self, request: web.Request, asker: Asker) -> web.Response:
        """The run that the reader saw, and no later one."""
        key = await self._asked(request, asker)
        run_id = (await form_of(request)).get("run", "")
        self._check_works_on(key, is_known=True)
        self._shown_run(key, run_id)
        self._ports.engine.stop(key, asker.reader.name)
        _log_request("stop", key, asker)
        return redirect(places.of_cr(key))

    async def pause(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._asked(request, asker)
        because = (await form_of(request)).get("because", "")[:_LONGEST_REASON]
        patch = pausing(asker.reader.name, because, self._ports.engine.clock.now())
        return await self._patched(key, asker, patch, "pause")

    async def resume(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._asked(request, asker)
        return await self._patched(key, asker, resuming(), "resume")

    def _shown_run(self, key: Key, run_id: str) -> Progress:
        """The run in flight; raises `RefusedError` where it is another one by now."""
        run = self._ports.engine.in_flight().get(key)
        if run is None or run.run_id != run_id:
            raise RefusedError(
                409, f"This run of {key} is not in progress", "It has ended already; see its runs."
            )
        return run

    def _is_known(self, key: Key) -> bool:
        known = self._ports.engine.known().get(key.gvk, {}).get((key.namespace, key.name))
        return known is not None and known.is_selected

    def _why_not(self, action: str, key: Key) -> str:
        """Why this replica cannot do it now; a pause and its end are the cluster's."""
        if action in ("pause", "resume"):
            return ""
        try:
            self._check_works_on(key, is_known=action == "stop" or self._is_known(key))
        except RefusedError as refusal:
            return f"{refusal.what}. {refusal.way_out}"
        return ""

    def _check_works_on(self, key: Key, *, is_known: bool) -> None:
        engine = self._ports.engine
        if not engine.leads():
            raise RefusedError(409, "This replica is not active", f"{who_works(engine)}.")
        if not is_known:
            raise RefusedError(
                404, f"This operator does not reconcile {key}", "Look for it among the objects."
            )
        if engine.division is not None:
            holder = KeyHolders(engine.division).of(key)
            if not holder.is_self:
                raise RefusedError(409, f"This replica does not have {key}", f"{holder}.")

    def check_works_on(self, key: Key) -> None:
        """Raises `RefusedError` unless this replica makes the runs of the CR."""
        self._check_works_on(key, is_known=self._is_known(key))

    async def _asked(self, request: web.Request, asker: Asker) -> Key:
        await self._guard.checked(request, asker)
        return await self._lookup.key_to_change(request, asker)

    async def _patched(
        self, key: Key, asker: Asker, patch: dict[str, object], what: str
    ) -> web.Response:
        try:
            await asker.reader.client.merge_patch(key.gvk, key.namespace, key.name, patch)
        except ClusterError as failure:
            raise RefusedError(
                502, f"The API server refused to {what} {key}", failure.message
            ) from failure
        _log_request(what, key, asker)
        return redirect(places.of_cr(key))


def _log_request(what: str, key: Key, asker: Asker) -> None:
    fields = log_fields(what=what, key=str(key), by=asker.reader.name)
    _logger.info("asked for on the page", extra=fields)
