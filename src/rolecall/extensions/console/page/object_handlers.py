"""The live YAML of a CR, or of an object that belongs to it, with who wrote each line last.

It is read as the reader. An object that does not belong to the CR is answered like one that is not
there, so that the answer reveals nothing. Task names take the right to read the log of the CR's runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.extensions.console.blame import (
    BlamedObject,
    FoundWrites,
    blame,
    count_fields,
    live_fields_of,
)
from rolecall.extensions.console.page import places, views
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.extensions.console.page.answers import HtmlAnswer
from rolecall.extensions.console.page.guard import Asker, RefusedError, redirect
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup, can_be
from rolecall.extensions.console.page.views import Html, ObjectPage, PageLayout
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.kube import Resource, is_owned_by, owner_annotations
from rolecall.workqueue import Key

# Each field is looked for in each write.
_MOST_FIELDS, _MOST_WRITES = 2_000, 100
_GROUP_VERSION = re.compile(r"([a-z0-9][-a-z0-9.]{0,252}/)?[a-z0-9]{1,63}")
_MOST_RUNS = 20  # each has a record, which may be megabytes
_LOG = (
    "Task names are part of the log of its runs, which you may not read: only managers are shown."
)
_FILLED_IN = (
    "(filled in): the write did not name the line, and the API server set it with that write."
)
_TOO_DEEP = "It is nested too deeply to be shown."


@dataclass(frozen=True, slots=True)
class _Live:
    """An object that the reader may see here."""

    resource: Resource
    namespace: str
    name: str
    document: Json

    @property
    def target(self) -> BlamedObject:
        uid = str(as_map(self.document.get("metadata")).get("uid") or "")
        gvk = self.resource.gvk
        return BlamedObject(gvk.group, self.resource.plural, self.namespace, self.name, uid)


class ObjectPages:
    def __init__(self, lookup: Lookup, layouts: Layouts) -> None:
        self._lookup, self._layouts = lookup, layouts

    async def object(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._lookup.key(request, asker)
        live = await _live(request, key, asker.reader.client)
        if live is None:
            raise RefusedError(
                404, f"{key} has no such object that you may see", "Look for it on the CR's page."
            )
        runs = None
        if await asker.reader.may_read_log(key):
            runs = await self._lookup.turns.in_thread(self._lookup.kept, key)
        await self._lookup.turns.take()
        layout = self._layouts.of(asker, key=key)
        is_filtered = runs is not None and request.query.get("only") == "tasks"
        show = partial(_shown, key, live, runs, layout, is_filtered=is_filtered)
        try:
            return HtmlAnswer(await self._lookup.turns.in_thread(show))
        except RecursionError:
            raise RefusedError(422, _TOO_DEEP, "Read it with kubectl.") from None

    async def task(self, request: web.Request, asker: Asker) -> web.Response:
        """To a task's own page, which is known by the event that began it."""
        key, run = await self._lookup.run(request, asker)
        tasks, here = (await self._lookup.tasks(run)).tasks, places.of_run(key, run.run)
        wanted = request.match_info["task"]
        counter = next((each.counter for each in tasks if each.uuid == wanted), None)
        return redirect(here if counter is None else f"{here}/tasks/{counter}")


async def _live(request: web.Request, key: Key, client: ReaderClient) -> _Live | None:
    """The object of an address as it is; None: not there, of another CR, or not for this reader."""
    parts = ("of_group", "of_version", "of_kind", "of_namespace", "of_name")
    named = places.key_of(*(request.match_info[part] for part in parts))
    if not can_be(named) or not _GROUP_VERSION.fullmatch(named.gvk.api_version):
        return None
    try:
        resource = await _resource(named, client)
        if resource is None or resource.namespaced != bool(named.namespace):
            return None
        cr = await client.get(key.gvk, key.namespace, key.name)
        of_cr = (key.gvk, key.namespace, key.name)
        if (resource.gvk, named.namespace, named.name) == of_cr:
            return _Live(resource, key.namespace, key.name, cr)
        found = await client.get(resource.gvk, named.namespace, named.name)
    except ClusterError:
        return None
    uid = str(as_map(cr.get("metadata")).get("uid") or "")
    if not is_owned_by(as_map(found.get("metadata")), uid, owner_annotations(*of_cr)):
        return None
    return _Live(resource, named.namespace, named.name, found)


async def _resource(named: Key, client: ReaderClient) -> Resource | None:
    """By its plural, or its kind."""
    gvk = named.gvk
    by_plural = await client.discovery.by_plural(gvk.group, gvk.version, gvk.kind)
    return by_plural or await client.discovery.by_gvk(gvk)


def _shown(
    key: Key, live: _Live, runs: list[KeptRun] | None, layout: PageLayout, *, is_filtered: bool
) -> Html:
    """In a thread: reads files, and the object may be megabytes."""
    found, gvk = FoundWrites(), live.resource.gvk
    document = {"apiVersion": gvk.api_version, "kind": gvk.kind, **live.document}
    if runs is not None:
        found.read(runs[:_MOST_RUNS], str(key), live.target)
    blamed = blame(live_fields_of(document, _MOST_FIELDS), found.writes[:_MOST_WRITES])
    notes = [_LOG] if runs is None else found.limits(blamed)
    if len(found.writes) > _MOST_WRITES:
        notes.append(
            f"Only the newest {_MOST_WRITES} of {len(found.writes):,} writes are considered here."
        )
    notes += [_FILLED_IN] if any(each.is_filled_in for each in blamed) else []
    shown = ObjectPage(
        key,
        f"{gvk.kind} {live.name}",
        places.of_object(key, gvk.group, gvk.version, gvk.kind, live.namespace, live.name),
        [each for each in blamed if each.write or not is_filtered],
        max(0, count_fields(document) - _MOST_FIELDS),
        is_filtered,
        runs is not None,
        notes,
    )
    return views.object_yaml(shown, layout)
