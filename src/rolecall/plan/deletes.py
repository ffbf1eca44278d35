"""Deletes in a plan's world: tried at the API server, and hidden from then on.

What Kubernetes' garbage collector would take away afterwards is not followed: a plan lists what the
play itself deletes, and an object that waits for finalizers counts as gone.
"""

from __future__ import annotations

from urllib.parse import urlencode

from rolecall.dry_run import is_dry_run
from rolecall.json_object import Json
from rolecall.plan.answers import JSON_TYPE, deleted_said, document_in, not_found
from rolecall.plan.bodies import trial_of_delete
from rolecall.plan.overlay import ObjectIdentity, Overlaid, Overlay
from rolecall.plan.reads import WorldReads, identity_of, scope_of
from rolecall.proxy import ApiServer, PlayRequest, Said


class Deletes:
    def __init__(self, overlay: Overlay, reads: WorldReads) -> None:
        self._overlay = overlay
        self._reads = reads

    async def one(self, asked: PlayRequest, server: ApiServer) -> Said:
        """Answer a DELETE of an object."""
        identity = identity_of(asked)
        found = self._overlay.find(identity)
        if self._overlay.is_gone_with_namespace(scope_of(asked)):
            return not_found(identity)
        if found is not None and found.now is None:
            return not_found(identity)
        if found is not None and found.before is None:
            return self._hide(asked, found, None)
        live = found.before if found is not None else None
        if live is None:
            read = await server.send("GET", asked.path, accept=JSON_TYPE)
            if read.code != 200:
                return read
            live = document_in(read)
        said = await _try_delete(asked, server)
        if said.code >= 300:
            return said
        made = found or Overlaid(identity, asked.info.version, live, None)
        return self._hide(asked, made, said)

    async def many(self, asked: PlayRequest, server: ApiServer) -> Said:
        """Answer a DELETE of a collection: all that a list with the same selectors shows."""
        said = await _try_delete(asked, server)
        if said.code >= 300 and not self._overlay.is_new_namespace(scope_of(asked)):
            return said
        items = await self._reads.items(asked, server)
        if isinstance(items, Said):
            return items
        for item in items:
            self._hide_item(asked, item)
        return said if said.code < 300 else deleted_said(identity_of(asked), "")

    def _hide_item(self, asked: PlayRequest, item: Json) -> None:
        info, metadata = asked.info, item.get("metadata") or {}
        identity = ObjectIdentity(
            info.group,
            info.resource,
            str(metadata.get("namespace") or ""),
            str(metadata.get("name") or ""),
        )
        found = self._overlay.find(identity) or Overlaid(identity, info.version, item, None)
        self._hide(asked, found, None)

    def _hide(self, asked: PlayRequest, found: Overlaid, said: Said | None) -> Said:
        is_trial = is_dry_run(asked.method, asked.target.partition("?")[2], asked.body)
        shown = found.now or found.before or {}
        uid = str((shown.get("metadata") or {}).get("uid") or "")
        if not is_trial and not found.identity.is_event:
            found.now, found.applied_by = None, ""
            found.written_at_s.append(asked.at_s)
            self._overlay.put(found)
        return said or deleted_said(found.identity, uid)


async def _try_delete(asked: PlayRequest, server: ApiServer) -> Said:
    kept = ("labelSelector", "fieldSelector")
    query = {key: asked.query[key] for key in kept if key in asked.query}
    return await server.send(
        "DELETE",
        f"{asked.path}?{urlencode({**query, 'dryRun': 'All'})}",
        accept=JSON_TYPE,
        media_type=JSON_TYPE,
        body=trial_of_delete(asked),
    )
