"""Reads the current versions of the objects that a run read, by name or for many CRs at once.

Promise: the result is not older than the moment when the turn's key was due, so a skipped run is one
that could have been made then. A single key requests its few objects by name. If keys wait in line, as
after a restart, each kind is listed once, metadata only, for all keys that were due before; a list is
used for `_LASTS_S` at most.

If an object cannot be read as the run read it (no right, no such kind, another response), we raise
`UnreadError`: then the run is made, and reports the error better.

Rejected: watches of everything that runs read. They would cost memory for objects that the engine does
not need between two periods; `watchReads` is for that.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from rolecall.clock import Clock
from rolecall.errors import ClusterError, RolecallError
from rolecall.record import ObjectPlace, seen_in

_META = "g=meta.k8s.io;v=v1"
_ONE = f"application/json;as=PartialObjectMetadata;{_META},application/json"
_MANY = f"application/json;as=PartialObjectMetadataList;{_META},application/json"
_KINDS = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
# Kinds, schemas and the server's version; all forms of the schemas come from one source.
_ABOUT_SERVER = ("/api", "/apis", "/openapi/v3", "/version")
_PAGE = 500
# A key that waited for less is alone: no other key would share a list with it.
_IN_LINE_S = 1.0
_LASTS_S = 15.0
_MOST_OBJECTS = 200_000


def is_about_server(path: str) -> bool:
    """Whether what a path answers is part of `kinds`, the digest of what the server has."""
    first = path.partition("?")[0].split("/")[1:2]
    return any(first == known.split("/")[1:2] for known in _ABOUT_SERVER)


class UnreadError(RolecallError):
    """Something that the run read cannot be read now."""


class ReadingApi(Protocol):
    """Reads under the engine's own credentials; `kube.Client` is the real one."""

    async def read_bytes(self, path: str, *, accept: str = "") -> bytes:
        """What is at a path; empty: nothing is there."""


@dataclass(slots=True)
class _Shared:
    """A kind as it was listed."""

    began_s: float
    states: dict[tuple[str, str], str] = field(default_factory=dict)
    is_usable: bool = True


class CurrentReads:
    def __init__(self, api: ReadingApi, clock: Clock, namespaces: tuple[str, ...] = ()) -> None:
        self._api = api
        self._clock = clock
        self._namespaces = namespaces
        self._shared: dict[tuple[str, str, str], _Shared] = {}
        self._locks: dict[tuple[str, str, str], asyncio.Lock] = {}
        self._kinds, self._kinds_at, self._kinds_lock = "", float("-inf"), asyncio.Lock()

    async def states(self, places: Iterable[ObjectPlace], due_s: float) -> dict[ObjectPlace, str]:
        """What is there now, or was since `due_s` on the clock that never jumps."""
        return {place: await self._state(place, due_s) for place in places}

    async def kinds(self) -> str:
        """A digest of which kinds the server has, with their schemas, and of its own version.

        Modules read the kinds before anything else; another default in a schema changes the content of
        an object without a write.
        """
        async with self._kinds_lock:
            now = self._clock.monotonic()
            if now - self._kinds_at > _LASTS_S:
                whole = hashlib.sha256()
                for path in _ABOUT_SERVER:
                    whole.update(await self._api.read_bytes(path, accept=_KINDS))
                self._kinds, self._kinds_at = whole.hexdigest(), now
            return self._kinds

    def forget_kinds(self) -> None:
        """A kind came, changed or went."""
        self._kinds_at = float("-inf")

    def drop_shared(self) -> None:
        """Drop lists that are too old for any key."""
        oldest = self._clock.monotonic() - _LASTS_S
        for kind in [kind for kind, shared in self._shared.items() if shared.began_s < oldest]:
            del self._shared[kind]
            self._locks.pop(kind, None)

    async def _state(self, place: ObjectPlace, due_s: float) -> str:
        now = self._clock.monotonic()
        is_named = bool(place.name) and not place.field_selector
        if is_named and (shared := await self._shared_for(place, due_s, now)) is not None:
            # A Namespace is asked for as if it were in itself, and listed as in none.
            namespace = "" if _is_namespace(place) else place.namespace
            return shared.states.get((namespace, place.name), "")
        return await self._state_alone(place)

    async def _state_alone(self, place: ObjectPlace) -> str:
        selectors = {"labelSelector": place.label_selector, "fieldSelector": place.field_selector}
        query = urlencode({name: value for name, value in selectors.items() if value})
        path = path_of(place) + (f"?{query}" if query else "")
        body = await self._api.read_bytes(path, accept=_ONE if place.name else _MANY)
        if not body and place.name:
            return ""
        seen = seen_in("application/json", body, _never_owned)
        if seen.unread:
            raise UnreadError(f"GET {path}: {seen.unread}")
        if place.name and not seen.object_version:
            raise UnreadError(f"GET {path}: the object has no version")
        if place.name:
            return f"{seen.object_version} {seen.uid}".strip()
        return seen.items_digest

    async def _shared_for(self, place: ObjectPlace, due_s: float, now: float) -> _Shared | None:
        is_scoped = self._namespaces and not _is_namespace(place)
        scope = place.namespace if is_scoped else ""
        kind = (place.group, f"{place.version}/{place.resource}", scope)
        shared = self._shared.get(kind)
        if shared is None and now - due_s < _IN_LINE_S:
            return None
        async with self._locks.setdefault(kind, asyncio.Lock()):
            shared = self._shared.get(kind)
            now = self._clock.monotonic()
            is_of_use = shared is not None and now - shared.began_s < _LASTS_S
            if shared is None or not is_of_use or shared.began_s < due_s:
                if now - due_s < _IN_LINE_S:
                    return None
                shared = self._shared[kind] = await self._listed(place, scope)
        return shared if shared.is_usable else None

    async def _listed(self, place: ObjectPlace, scope: str) -> _Shared:
        """The whole kind; of no use where it cannot be listed, or is too large."""
        shared = _Shared(self._clock.monotonic())
        path = path_of(ObjectPlace(place.group, place.version, place.resource, scope))
        token = ""
        while shared.is_usable:
            query = urlencode({"limit": _PAGE, **({"continue": token} if token else {})})
            try:
                body = await self._api.read_bytes(f"{path}?{query}", accept=_MANY)
            except ClusterError:  # no right to list: one by one, then
                body = b""
            token = _take_page(shared, body)
            if not token:
                return shared
            await asyncio.sleep(0)
        return shared


def path_of(place: ObjectPlace) -> str:
    """The URL's path of an object, or of a list."""
    root = f"/apis/{place.group}" if place.group else "/api"
    parts = [root, place.version]
    if place.namespace and not _is_namespace(place):
        parts += ["namespaces", quote(place.namespace, safe="")]
    parts += [place.resource, *([quote(place.name, safe="")] if place.name else [])]
    return "/".join(parts)


def _is_namespace(place: ObjectPlace) -> bool:
    return place.resource == "namespaces" and not place.group


def _take_page(shared: _Shared, body: bytes) -> str:
    """Note its items; returns the token of the next page, empty at the end."""
    try:
        document = json.loads(body)
        for item in document["items"] or ():
            metadata = item["metadata"]
            place = (metadata.get("namespace", ""), metadata["name"])
            shared.states[place] = f"{metadata['resourceVersion']} {metadata['uid']}"
    except (ValueError, LookupError, TypeError, AttributeError):
        shared.is_usable = False
        return ""
    shared.is_usable = len(shared.states) <= _MOST_OBJECTS
    return str(document["metadata"].get("continue") or "")


def _never_owned(_: Mapping[str, Any]) -> bool:
    return False
