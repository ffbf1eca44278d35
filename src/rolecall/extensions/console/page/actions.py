"""What a reader may have done: a run now, the end of a run, a pause, its end. As the reader, never as
the operator.

A run is asked of the queue, which knows no users; so it takes the right to patch the CR, by which
the same could be had with an annotation. So does the end of a run.
"""

from __future__ import annotations

import logging

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extensions.console.division import KeyHolders
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.answers import form_of
from rolecall.extensions.console.page.guard import Asker, Guard, RefusedError, redirect
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.parts import who_works
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.log_fields import log_fields
from rolecall.reconcile import pausing, resuming
from rolecall.workqueue import PERSON, Key

_LONGEST_REASON = 500
_logger = logging.getLogger(__name__)


class Actions:
    def __init__(self, ports: PagePorts, lookup: Lookup, guard: Guard) -> None:
        self._ports, self._lookup, self._guard = ports, lookup, guard

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
        run = self._ports.engine.in_flight().get(key)
        self._check_works_on(key, is_known=True)
        if run is None or run.run_id != run_id:
            raise RefusedError(
                409, f"This run of {key} is not in flight", "It has ended already; see its runs."
            )
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

    def _check_works_on(self, key: Key, *, is_known: bool) -> None:
        engine = self._ports.engine
        if not engine.leads():
            raise RefusedError(409, "This replica does not work now", f"{who_works(engine)}.")
        if not is_known:
            raise RefusedError(
                404, f"This operator does not work on {key}", "Look for it among the objects."
            )
        if engine.division is not None:
            holder = KeyHolders(engine.division).of(key)
            if not holder.is_self:
                raise RefusedError(409, f"This replica does not have {key}", f"{holder}.")

    def check_works_on(self, key: Key) -> None:
        """Raises `RefusedError` unless this replica makes the runs of the CR."""
        known = self._ports.engine.known().get(key.gvk, {}).get((key.namespace, key.name))
        self._check_works_on(key, is_known=known is not None and known.is_selected)

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
                502, f"The cluster refused to {what} {key}", failure.message
            ) from failure
        _log_request(what, key, asker)
        return redirect(places.of_cr(key))


def _log_request(what: str, key: Key, asker: Asker) -> None:
    fields = log_fields(what=what, key=str(key), by=asker.reader.name)
    _logger.info("asked for on the page", extra=fields)
