"""Writes in a plan's world: tried at the API server, and kept in the overlay.

Of an object that the plan did not touch, the server's answer to the very request is what would be
there: exact. Of one that the plan wrote before, the server knows only what it was before that. So the
next patch is made here (`patches`), the outcome is put to the server as a whole, as a create or a
replacement, and is approximate. An apply by the field manager that made all applies before needs none
of that: it says the manager's whole intent again, and the server's answer to it alone is exact.

Nothing here ever sends a write without `dryRun=All`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rolecall.json_object import Json
from rolecall.plan.answers import (
    JSON_TYPE,
    NotAnswerableError,
    already_there,
    conflict,
    document_in,
    not_found,
    object_said,
    unprocessable,
)
from rolecall.plan.bodies import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PATCH_TYPES,
    STRATEGIC_PATCH,
    object_of,
    value_of,
)
from rolecall.plan.model import Certainty
from rolecall.plan.overlay import ObjectIdentity, Overlaid, Overlay
from rolecall.plan.patches import (
    UnfitPatchError,
    applied,
    json_patched,
    merge_patched,
    strategic_patched,
)
from rolecall.plan.reads import identity_of, scope_of
from rolecall.plan.trials import Trials, Tried
from rolecall.proxy import ApiServer, PlayRequest, Said, is_review

_BY_TYPE: dict[str, Callable[[Any, Any], Any]] = {
    APPLY_PATCH: applied,
    JSON_PATCH: json_patched,
    MERGE_PATCH: merge_patched,
    STRATEGIC_PATCH: strategic_patched,
}
_PATCHED_HERE = "the plan wrote it before, and this patch was applied by rolecall"


@dataclass(frozen=True, slots=True)
class _Write:
    """One write, and what it is about."""

    asked: PlayRequest
    server: ApiServer
    identity: ObjectIdentity
    body: Any

    @property
    def manager(self) -> str:
        return self.asked.query.get("fieldManager", "")

    @property
    def is_apply(self) -> bool:
        return self.asked.media_type == APPLY_PATCH

    @property
    def is_trial(self) -> bool:
        """The play itself asked for a dry run, and expects nothing to be kept."""
        return "dryRun" in self.asked.query


class Writes:
    def __init__(self, overlay: Overlay, stand_in: str) -> None:
        self._overlay = overlay
        self._trials = Trials(overlay, stand_in)

    async def create(self, asked: PlayRequest, server: ApiServer) -> Said:
        """Answer a POST to a collection."""
        if is_review(asked.info):
            return await _passed(asked, server)
        if asked.is_protobuf:
            return await self._created_encoded(asked, server)
        body = object_of(asked)
        name = str((body.get("metadata") or {}).get("name") or "")
        identity = _named(identity_of(asked), name)
        found = self._overlay.find(identity) if name else None
        if found is not None and found.now is not None:
            return already_there(identity)
        return await self._created(_Write(asked, server, identity, body))

    async def change(self, asked: PlayRequest, server: ApiServer) -> Said:
        """Answer a PUT or a PATCH of an object, its status and its scale."""
        if asked.method == "PATCH" and asked.media_type not in PATCH_TYPES:
            raise NotAnswerableError(f"a patch as `{asked.media_type}`")
        found = self._overlay.find(identity_of(asked))
        if asked.is_protobuf:
            read = await self._read_encoded(asked, server, found)
            if isinstance(read, Said):
                return read
            asked = read
        body = value_of(asked)
        write = _Write(asked, server, identity_of(asked), body)
        if found is None:
            return await self._change_of_stored(write)
        if found.now is None or self._overlay.is_gone_with_namespace(scope_of(asked)):
            return await self._created(write) if write.is_apply else not_found(write.identity)
        if write.is_apply and self._is_same_intent(found, write):
            return await self._applied_again(write, found)
        return await self._change_of_overlaid(write, found)

    async def _created(self, write: _Write) -> Said:
        asked, body = write.asked, write.body
        if asked.owner is not None and not write.identity.is_event:
            namespace = scope_of(asked)
            body = asked.owner.of_new(body, is_namespaced=bool(namespace), namespace=namespace)
        tried = await self._trials.create(asked, write.server, body)
        if tried.found is None:
            return tried.said
        identity = _named(write.identity, str(tried.found["metadata"].get("name") or ""))
        before = self._overlay.find(identity)
        made = Overlaid(identity, asked.info.version, before.before if before else None, None)
        made.is_name_made_up = not (body.get("metadata") or {}).get("name")
        made.applied_by = write.manager if write.is_apply else ""
        self._keep(write, made, tried)
        return object_said(tried.found, asked.accept, 201)

    async def _created_encoded(self, asked: PlayRequest, server: ApiServer) -> Said:
        """A create in a format that is not read here; the answer is, and has the name."""
        data, namespace = asked.body, scope_of(asked)
        if asked.owner is not None:
            data = asked.owner.of_new_encoded(
                asked.media_type, data, is_namespaced=bool(namespace), namespace=namespace
            )
        tried = await self._trials.create_encoded(asked, server, data)
        if tried.found is None:
            return tried.said
        identity = _named(identity_of(asked), str(tried.found["metadata"].get("name") or ""))
        found = self._overlay.find(identity)
        if found is not None and found.now is not None:
            return already_there(identity)
        before = found.before if found is not None else None
        made = Overlaid(identity, asked.info.version, before, None)
        self._keep(_Write(asked, server, identity, tried.found), made, tried)
        return object_said(tried.found, asked.accept, 201)

    async def _read_encoded(
        self, asked: PlayRequest, server: ApiServer, found: Overlaid | None
    ) -> PlayRequest | Said:
        """A PUT in a format that is not read here, as JSON; or why the server refuses it."""
        if asked.info.subresource:
            what = f"{asked.info.resource}/{asked.info.subresource}"
            raise NotAnswerableError(f"a write of {what} as `{asked.media_type}`")
        if found is not None and found.now is None:
            return not_found(identity_of(asked))
        # Of what the plan wrote, the play names a version that no server has.
        tried = await self._trials.decoded(
            asked if found is None else asked.without_version(),
            server,
            is_stored=found is None or found.before is not None,
        )
        return tried.said if tried.found is None else asked.in_json(tried.found)

    async def _change_of_stored(self, write: _Write) -> Said:
        """The first write of the plan to what the cluster has, or to nothing."""
        asked = write.asked
        if self._overlay.is_gone_with_namespace(scope_of(asked)):
            return not_found(write.identity)
        said = await write.server.send("GET", _path_of_object(asked), accept=JSON_TYPE)
        if said.code == 404 and document_in(said).get("kind") == "Status":
            return await self._upserted(write)
        if said.code != 200:
            return said
        live = document_in(said)
        body = self._with_owners_kept(write, live)
        tried = await self._trials.send(asked, write.server, body, self._as_sent(live, write))
        if tried.found is None:
            return tried.said
        made = Overlaid(write.identity, asked.info.version, live, None)
        made.applied_by = write.manager if write.is_apply else ""
        return self._kept_answer(write, made, tried, live)

    async def _upserted(self, write: _Write) -> Said:
        """A write to what is not there: an apply makes it, a PUT of some kinds, and no patch."""
        body = write.body
        if write.is_apply and not write.asked.info.subresource:
            return await self._created(write)
        if self._overlay.is_new_namespace(scope_of(write.asked)):
            return not_found(write.identity)
        is_put = write.asked.method == "PUT" and not write.asked.info.subresource
        if is_put and write.asked.owner is not None and isinstance(body, dict):
            namespace = scope_of(write.asked)
            body = write.asked.owner.of_new(
                body, is_namespaced=bool(namespace), namespace=namespace
            )
        tried = await self._trials.send(write.asked, write.server, body, None)
        if tried.found is None:
            return tried.said
        made = Overlaid(write.identity, write.asked.info.version, None, None)
        return self._kept_answer(write, made, tried, {})

    async def _applied_again(self, write: _Write, found: Overlaid) -> Said:
        if found.before is None:
            return await self._created(write)
        body = self._with_owners_kept(write, found.now or {})
        tried = await self._trials.send(write.asked, write.server, body, None)
        if tried.found is None:
            return tried.said
        return self._kept_answer(write, found, tried, found.now or {})

    async def _change_of_overlaid(self, write: _Write, found: Overlaid) -> Said:
        there = found.now or {}
        try:
            whole = replace(write, body=self._with_owners_kept(write, there))
            wanted = _wanted(whole, there)
        except UnfitPatchError as error:
            return unprocessable(write.identity, str(error))
        if _is_stale(wanted, there):
            return conflict(write.identity)
        if write.asked.info.subresource == "status":
            there = {**there, "status": wanted.get("status")}
            self._keep(write, found, Tried(Said(200, JSON_TYPE, b""), there), is_patched=False)
            return object_said(there, write.asked.accept)
        if found.before is None:
            tried = await self._trials.create(write.asked, write.server, wanted)
        else:
            tried = await self._trials.replace(write.asked, write.server, wanted)
        if tried.found is None:
            return tried.said
        made = {**tried.found, "metadata": {**_served(there), **tried.found["metadata"]}}
        if "status" in there:
            made.setdefault("status", there["status"])
        found.applied_by = ""
        return self._kept_answer(
            write,
            found,
            Tried(tried.said, made, tried.certainty, tried.why),
            there,
            is_patched=True,
        )

    def _kept_answer(
        self, write: _Write, made: Overlaid, tried: Tried, there: Json, *, is_patched: bool = False
    ) -> Said:
        asked, answer = write.asked, tried.found or {}
        if asked.info.subresource == "scale":
            replicas = (answer.get("spec") or {}).get("replicas")
            whole = {**there, "spec": {**(there.get("spec") or {}), "replicas": replicas}}
            tried = Tried(tried.said, whole, tried.certainty, tried.why)
        self._keep(write, made, tried, is_patched=is_patched)
        return object_said(answer, asked.accept, tried.said.code)

    def _keep(
        self, write: _Write, made: Overlaid, tried: Tried, *, is_patched: bool = False
    ) -> None:
        if write.is_trial or write.identity.is_event:
            return
        made.now = tried.found
        made.doubt(tried.certainty, tried.why)
        if is_patched:
            made.doubt(Certainty.APPROXIMATE, _PATCHED_HERE)
        made.written_at_s.append(write.asked.at_s)
        self._overlay.put(made)

    def _is_same_intent(self, found: Overlaid, write: _Write) -> bool:
        is_whole = not write.asked.info.subresource
        return is_whole and bool(write.manager) and found.applied_by == write.manager

    def _with_owners_kept(self, write: _Write, live: Json) -> Any:
        owner, body = write.asked.owner, write.body
        if owner is None or write.asked.info.subresource or not isinstance(body, dict):
            return body
        if write.asked.method == "PUT":
            return owner.of_replaced(body, live)
        return owner.of_applied(body, live, write.manager) if write.is_apply else body

    def _as_sent(self, live: Json, write: _Write) -> Json | None:
        try:
            return _wanted(write, live)
        except UnfitPatchError:
            return None


def _wanted(write: _Write, there: Json) -> Json:
    """The object after a write, as far as the write alone says."""
    asked = write.asked
    if asked.info.subresource == "scale":
        replicas = _replicas_in(write, there)
        return {**there, "spec": {**(there.get("spec") or {}), "replicas": replicas}}
    wanted = write.body if asked.method == "PUT" else _BY_TYPE[asked.media_type](there, write.body)
    if not isinstance(wanted, dict) or not isinstance(wanted.get("metadata"), dict):
        raise UnfitPatchError("the patched document is not an object")
    return wanted


def _replicas_in(write: _Write, there: Json) -> Any:
    scale = {"spec": {"replicas": (there.get("spec") or {}).get("replicas")}}
    asked = write.asked
    said = write.body if asked.method == "PUT" else _BY_TYPE[asked.media_type](scale, write.body)
    return (said.get("spec") or {}).get("replicas") if isinstance(said, dict) else None


def _is_stale(wanted: Json, there: Json) -> bool:
    said = wanted["metadata"].get("resourceVersion")
    return bool(said) and said != (there.get("metadata") or {}).get("resourceVersion")


def _served(there: Json) -> Json:
    """What the server gave an object when it was made; another trial of it makes up another."""
    metadata = there.get("metadata") or {}
    return {key: metadata[key] for key in ("creationTimestamp",) if key in metadata}


def _named(identity: ObjectIdentity, name: str) -> ObjectIdentity:
    return ObjectIdentity(identity.group, identity.plural, identity.namespace, name)


def _path_of_object(asked: PlayRequest) -> str:
    suffix = f"/{asked.info.subresource}" if asked.info.subresource else ""
    return asked.path.removesuffix(suffix)


async def _passed(asked: PlayRequest, server: ApiServer) -> Said:
    return await server.send(
        asked.method,
        asked.target,
        accept=asked.accept,
        media_type=asked.media_type,
        body=asked.body,
    )
