"""Reads in a plan's world: what the cluster has, with what the plan wrote over it.

What the plan did not touch is asked of the API server as it came, and answered as it answers. A list
with something of the plan in it is asked whole, as JSON, and mended: what the plan wrote is taken out
and put in again where labels match. Of field selectors only names can be evaluated: how others match an
object that is not stored, only the API server knows.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from rolecall.json_object import Json
from rolecall.plan.answers import (
    JSON_TYPE,
    NotAnswerableError,
    document_in,
    expired,
    list_said,
    not_found,
    object_said,
)
from rolecall.plan.overlay import NAMESPACES, ObjectIdentity, Overlaid, Overlay
from rolecall.proxy import ApiServer, PlayRequest, Said
from rolecall.record import SelectorError, names_of_fields, selects

_STREAMS = frozenset({"attach", "exec", "portforward", "proxy"})


class WorldReads:
    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    async def answer(self, asked: PlayRequest, server: ApiServer) -> Said:
        """Answer a GET; raises `NotAnswerableError`."""
        info = asked.info
        if info.verb == "watch":
            raise NotAnswerableError(f"a watch of {info.resource}: nothing happens during a plan")
        if info.subresource in _STREAMS or info.verb == "proxy":
            raise NotAnswerableError(f"{info.resource}/{info.subresource or info.verb}")
        if not info.is_resource:
            return await _passed(asked, server)
        if info.verb == "list":
            document = await self._list(asked, server)
            return document if isinstance(document, Said) else list_said(document, asked.accept)
        return await self._get(asked, server)

    async def _get(self, asked: PlayRequest, server: ApiServer) -> Said:
        info = asked.info
        identity = identity_of(asked)
        found = self._overlay.find(identity)
        if self._overlay.is_gone_with_namespace(scope_of(asked)):
            return not_found(identity)
        if found is None:
            return await _passed(asked, server)
        if found.now is None:
            return not_found(identity)
        if info.subresource not in ("", "status"):
            raise NotAnswerableError(
                f"{info.resource}/{info.subresource} of `{info.name}`, which the plan wrote"
            )
        return object_said(_at_version(found, info.version), asked.accept)

    async def items(self, asked: PlayRequest, server: ApiServer) -> Said | list[Json]:
        """The objects that a list would show; what the API server says where it has none."""
        whole = replace(asked, method="GET", accept=JSON_TYPE, target=_whole_list(asked))
        document = await self._list(whole, server)
        if not isinstance(document, Said):
            return list(document["items"])
        items = document_in(document).get("items")
        return items if document.code == 200 and isinstance(items, list) else document

    async def _list(self, asked: PlayRequest, server: ApiServer) -> Said | Json:
        info = asked.info
        group, plural = info.group, info.resource
        ours = self._overlay.in_scope(group, plural, scope_of(asked))
        if self._overlay.is_gone_with_namespace(scope_of(asked)):
            raise NotAnswerableError(f"a list in `{info.namespace}`, which the plan deletes")
        if not ours:
            return await _passed(asked, server)
        wanted = names_of_fields(asked.query.get("fieldSelector", ""))
        if wanted is None:
            raise NotAnswerableError(
                f"the field selector `{asked.query['fieldSelector']}` over {plural} that the plan"
                " wrote"
            )
        if asked.query.get("continue"):
            return expired()
        said = await server.send("GET", _whole_list(asked), accept=JSON_TYPE)
        document = document_in(said)
        if said.code != 200 or not isinstance(document.get("items"), list):
            return said
        try:
            items = self._mended(document["items"], ours, asked, wanted)
        except SelectorError as error:
            raise NotAnswerableError(str(error)) from error
        metadata = {
            key: value
            for key, value in (document.get("metadata") or {}).items()
            if key not in ("continue", "remainingItemCount")
        }
        return {**document, "metadata": metadata, "items": items}

    def _mended(
        self, items: list[Json], ours: list[Overlaid], asked: PlayRequest, wanted: dict[str, str]
    ) -> list[Json]:
        overlaid = {(each.identity.namespace, each.identity.name) for each in ours}
        kept = [item for item in items if _place(item) not in overlaid]
        selector = asked.query.get("labelSelector", "")
        for each in ours:
            if each.now is None:
                continue
            found = _at_version(each, asked.info.version)
            metadata = found.get("metadata") or {}
            is_named = all(metadata.get(key) == value for key, value in wanted.items())
            if is_named and selects(selector, metadata.get("labels") or {}):
                kept.append(found)
        return sorted(kept, key=_place)


def identity_of(asked: PlayRequest) -> ObjectIdentity:
    """The object that a request is about."""
    info = asked.info
    return ObjectIdentity(info.group, info.resource, scope_of(asked), info.name)


def scope_of(asked: PlayRequest) -> str:
    """The namespace that a request's objects are in; a namespace is not in itself."""
    info = asked.info
    return "" if (info.group, info.resource) == NAMESPACES else info.namespace


def _at_version(found: Overlaid, version: str) -> Json:
    if found.now is None:
        raise ValueError("it is deleted")
    if version != found.version:
        raise NotAnswerableError(
            f"version {version} of `{found.identity.name}`, which the plan wrote at {found.version}"
        )
    return found.now


def _place(item: Json) -> tuple[str, str]:
    metadata = item.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _whole_list(asked: PlayRequest) -> str:
    """The same list, not in pages; of the state that is there now."""
    left_out = ("limit", "continue", "resourceVersion", "resourceVersionMatch")
    kept = {key: value for key, value in asked.query.items() if key not in left_out}
    return f"{asked.path}?{urlencode(kept)}" if kept else asked.path


async def _passed(asked: PlayRequest, server: ApiServer) -> Said:
    return await server.send(asked.method, asked.target, accept=asked.accept)
