"""Which kinds the server has, and how they are called in paths.

Promise: an answer that is kept is never older than the last hint that it may be wrong (`forget`, a
path that went missing), and asking for kinds that do not exist costs the server at most one small
request a second per group and version, however many ask.

Only groups that a caller asks for are read, one document each. The aggregated document for
everything was rejected: it is hundreds of kilobytes of which an operator uses a handful of rows,
and one broken extension server makes parts of it stale for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube.errors import GATEWAY_HINT, NoSuchKindError, NotFoundError, UnavailableError
from rolecall.kube.resource import Resource

MISS_PAUSE_S = 1.0
# More groups than a cluster has: some were made up in requests.
_MOST_KNOWN = 1_000


@dataclass(slots=True)
class _GroupVersion:
    """What one group and version serves; empty where the server does not have it."""

    by_kind: dict[str, Resource] = field(default_factory=dict)
    by_plural: dict[str, Resource] = field(default_factory=dict)
    read_at: float = 0.0


class Discovery:
    def __init__(self, fetch: Callable[[str], Awaitable[Json]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._known: dict[tuple[str, str], _GroupVersion] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def by_gvk(self, gvk: Gvk) -> Resource:
        """The resource of a kind; raises `NoSuchKindError`."""
        known = self._known.get((gvk.group, gvk.version))
        if known is None or gvk.kind not in known.by_kind:
            known = await self._refreshed(gvk.group, gvk.version)
        resource = known.by_kind.get(gvk.kind)
        if resource is None:
            raise NoSuchKindError(gvk)
        return resource

    async def by_plural(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource that a path names, or None."""
        known = self._known.get((group, version))
        if known is None or plural not in known.by_plural:
            known = await self._refreshed(group, version)
        return known.by_plural.get(plural)

    def forget(self, group: str, version: str = "") -> None:
        """Something about a group changed: read it again when it is asked for next."""
        for known in [key for key in self._known if key[0] == group and version in ("", key[1])]:
            del self._known[known]

    async def _refreshed(self, group: str, version: str) -> _GroupVersion:
        place = (group, version)
        async with self._locks.setdefault(place, asyncio.Lock()):
            known = self._known.get(place)
            now = self._clock.monotonic()
            if known is not None and now - known.read_at < MISS_PAUSE_S:
                return known  # read just now; nothing new in so short a time
            fresh = await self._read(group, version)
            fresh.read_at = self._clock.monotonic()
            self._known[place] = fresh
        if len(self._known) > _MOST_KNOWN:
            self._forget_absent()
        return fresh

    def _forget_absent(self) -> None:
        for place in [place for place, known in self._known.items() if not known.by_kind]:
            del self._known[place]
            if not self._locks[place].locked():
                del self._locks[place]

    async def _read(self, group: str, version: str) -> _GroupVersion:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        try:
            document = await self._fetch(path)
        except NotFoundError:
            return _GroupVersion()
        try:
            return _parse(group, version, document["resources"])
        except (AttributeError, KeyError, TypeError, ValueError) as failure:
            raise UnavailableError(
                f"could not get `{path}`: the answer is not a list of resources", hint=GATEWAY_HINT
            ) from failure


def _parse(group: str, version: str, rows: list[Json]) -> _GroupVersion:
    subresources: dict[str, set[str]] = {}
    for row in rows:
        plural, _, subresource = str(row["name"]).partition("/")
        if subresource:
            subresources.setdefault(plural, set()).add(subresource)
    if not isinstance(rows, list):
        raise ValueError("no list")
    parsed = _GroupVersion()
    for row in rows:
        plural = str(row["name"])
        if "/" in plural:
            continue
        resource = Resource(
            gvk=Gvk(group, version, str(row["kind"])),
            plural=plural,
            namespaced=bool(row.get("namespaced")),
            verbs=frozenset(row.get("verbs") or ()),
            subresources=frozenset(subresources.get(plural, ())),
            names=frozenset(_names(plural, row)),
        )
        parsed.by_plural[plural] = resource
        parsed.by_kind.setdefault(resource.gvk.kind, resource)
    return parsed


def _names(plural: str, row: Json) -> Iterator[str]:
    yield plural
    yield str(row.get("singularName") or row["kind"].lower())
    yield from (row.get("shortNames") or ())
    yield from (row.get("categories") or ())
