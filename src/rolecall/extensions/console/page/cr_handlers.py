"""The page of one object: collects what the user may see, for the view that shows it."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extending import EnginePorts
from rolecall.extensions.console.page import owned, views
from rolecall.extensions.console.page.answers import HtmlAnswer, is_fragment
from rolecall.extensions.console.page.differences import differences
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.rows import CrRow
from rolecall.extensions.console.page.views import CrPage, OwnedTree
from rolecall.history import KeptRun, read_spec
from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.workqueue import Key


class CrPages:
    """Handlers; each gets the request and who asks."""

    def __init__(self, engine: EnginePorts, lookup: Lookup, layouts: Layouts) -> None:
        self._engine, self._lookup, self._layouts = engine, lookup, layouts

    async def cr(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._lookup.key(request, asker)
        may_read_log = await asker.reader.may_read_log(key)
        row, position = await self._lookup.row(key, may_read_log=may_read_log)
        shown = await self._cr_page(key, row, asker, may_read_log=may_read_log)
        await self._lookup.turns.take()
        layout = self._layouts.of(asker, position, key)
        page = views.cr_parts if is_fragment(request) else views.cr
        return HtmlAnswer(
            await self._lookup.turns.in_thread(page, shown, layout)
        )  # maybe of megabytes

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
        runs = await self._lookup.turns.in_thread(self._lookup.kept, key)
        tree = OwnedTree()
        if may_read_log and cr is not None:
            asked = await self._lookup.turns.in_thread(owned.asked_for, runs)
            tree = await owned.tree_of(asked, runs, key, cr, asker.reader.client)
        return CrPage(
            key,
            row,
            cr,
            runs,
            tree,
            # A kept spec may hold what its CR, which the reader may get, holds no more.
            await self._lookup.turns.in_thread(_changes_since, runs, cr) if may_read_log else None,
            await asker.reader.may_change(key),
            may_read_log,
            problems,
            self._engine.acts().get(key, ()) if may_read_log else (),
            views.patch_right(key, self._engine.plurals().get(key.gvk, "")),
            self._engine.clock.now(),
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
