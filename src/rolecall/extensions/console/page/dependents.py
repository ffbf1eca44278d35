"""What controllers made below an object that a CR owns, down to pods: found by list, as the reader.

Kubernetes names owners in objects alone, so children are found by a list in the owner's namespace, with
the labels that the owner selects by, and counted by its UID. Which kind lies below which is fixed, so
that owner references in a circle end where the kinds do.

Bounded: so many lists and objects a view, so many objects of a list, so many children of each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.extensions.console.page.health import (
    Health,
    as_list,
    health_of,
    health_of_service,
    ready_endpoints,
)
from rolecall.extensions.console.page.views import OwnedObject, worst_first
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import ForbiddenError

MOST_CHILDREN, MOST_IN_ALL = 100, 300
_MOST_LISTS = 60
_MOST_LISTED = 2_000  # of one list
_AT_A_TIME = 50  # objects whose health is judged without a pause
_MOST_OLD = 5  # ReplicaSets with pods, or Jobs of a CronJob
_POD, _SET = Gvk("", "v1", "Pod"), Gvk("apps", "v1", "ReplicaSet")
_BELOW = {
    ("apps", "Deployment"): _SET,
    ("apps", "ReplicaSet"): _POD,
    ("apps", "StatefulSet"): _POD,
    ("apps", "DaemonSet"): _POD,
    ("batch", "Job"): _POD,
    ("batch", "CronJob"): Gvk("batch", "v1", "Job"),
}
_SLICE = Gvk("discovery.k8s.io", "v1", "EndpointSlice")


@dataclass(frozen=True, slots=True)
class Below:
    objects: Sequence[OwnedObject] = ()
    left_out: Sequence[str] = ()
    health: Health | None = None  # of the owner, where what is below decides it


@dataclass(slots=True)
class OwnedBelow:
    """Of all that one CR owns."""

    client: ReaderClient
    gate: asyncio.Semaphore
    _left: int = MOST_IN_ALL
    _lists: int = _MOST_LISTS
    _hidden: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    @property
    def hidden(self) -> list[str]:
        """What is not shown, a sentence each."""
        return sorted(self._hidden)

    async def below(self, gvk: Gvk, owner: Json) -> Below:
        if (gvk.group, gvk.kind) == ("", "Service"):
            return Below(health=await self._endpoints_of(owner))
        kind = _BELOW.get((gvk.group, gvk.kind))
        metadata = as_map(owner.get("metadata"))
        uid = metadata.get("uid")
        if kind is None or not isinstance(uid, str) or not uid:
            return Below()
        spec = as_map(owner.get("spec"))
        selector = "" if gvk.kind == "CronJob" else selector_text(spec.get("selector"))
        found = await self._listed(kind, metadata, selector, lambda each: _is_below(each, uid))
        return await self._shown(kind, found)

    async def _shown(self, kind: Gvk, found: list[Json]) -> Below:
        left_out = []
        if kind != _POD:
            found = _newest(kind, found)
            if len(found) > _MOST_OLD:
                left_out.append(f"{len(found) - _MOST_OLD:,} older {kind.kind}s are not shown.")
            found = found[:_MOST_OLD]
        new = [each for each in found if self._is_new(each)]
        objects = worst_first(await _objects_of(kind, new))
        few = objects[: max(0, min(MOST_CHILDREN, self._left))]
        self._left -= len(few)
        if rest := objects[len(few) :]:
            ill = sum(each.is_well is False for each in rest)
            left_out.append(
                f"{len(rest):,} more {kind.kind}s are not shown,"
                f" {f'{ill:,}' if ill else 'none'} of them unhealthy."
            )
        if (kind.group, kind.kind) in _BELOW:
            by_name = {_name_of(each): each for each in new}
            few = [await self._with_below(kind, each, by_name[each.name]) for each in few]
        return Below(few, left_out)

    async def _with_below(self, kind: Gvk, shown: OwnedObject, body: Json) -> OwnedObject:
        below = await self.below(kind, body)
        return shown.with_below(below.objects, below.left_out)

    def reserve(self, found: Json) -> None:
        """It is shown by itself."""
        self._is_new(found)

    def _is_new(self, found: Json) -> bool:
        """Whether it is not shown elsewhere: with two owners, it is shown once."""
        uid = str(as_map(found.get("metadata")).get("uid"))
        is_new = uid not in self._seen
        self._seen.add(uid)
        return is_new

    async def _endpoints_of(self, service: Json) -> Health | None:
        """None: it selects no pods, or the reader may not see the endpoints."""
        spec, metadata = as_map(service.get("spec")), as_map(service.get("metadata"))
        is_other = spec.get("type") in ("ExternalName", "LoadBalancer")
        if is_other or not as_map(spec.get("selector")) or metadata.get("deletionTimestamp"):
            return None
        named = f"kubernetes.io/service-name={metadata.get('name')}"
        slices = await self._listed(_SLICE, metadata, named, lambda _: True)
        return health_of_service(sum(map(ready_endpoints, slices))) if slices else None

    async def _listed(
        self, kind: Gvk, owner: Json, selector: str, is_meant: Callable[[Json], bool]
    ) -> list[Json]:
        namespace = str(owner.get("namespace") or "")
        if not namespace:  # else the list would be of all namespaces
            return []
        if self._lists <= 0 or self._left <= 0:
            self._hidden.add("Not everything below these objects is shown.")
            return []
        self._lists -= 1
        where = f"{kind.kind}s in namespace {namespace}"
        found, looked_at = list[Json](), 0
        try:
            async with self.gate:
                async for items in self._pages(kind, namespace, selector):
                    found += filter(is_meant, items)
                    looked_at += len(items)
                    if looked_at >= _MOST_LISTED:
                        self._hidden.add(f"Not all {where} are shown: there are too many.")
                        break
        except ForbiddenError:
            self._hidden.add(f"You may not list {where}, so they are not shown.")
        except ClusterError:
            self._hidden.add(f"The {where} could not be read; reload the page.")
        return found

    async def _pages(self, kind: Gvk, namespace: str, selector: str) -> AsyncIterator[list[Json]]:
        async for page in self.client.pages(kind, namespace, label_selector=selector):
            yield page.items
            await asyncio.sleep(0)


def selector_text(selector: object) -> str:
    """As a query has it; empty where it is of a shape that Kubernetes does not take."""
    found = as_map(selector)
    labels = as_map(found.get("matchLabels"))
    terms = [f"{name}={value}" for name, value in labels.items() if isinstance(value, str)]
    for each in map(as_map, as_list(found.get("matchExpressions"))):
        name, values = each.get("key"), ",".join(map(str, as_list(each.get("values"))))
        match each.get("operator"):
            case "In" | "NotIn" as operator:
                terms.append(f"{name} {operator.lower()} ({values})")
            case "Exists":
                terms.append(f"{name}")
            case "DoesNotExist":
                terms.append(f"!{name}")
    return ",".join(terms)


def _is_below(found: Json, uid: str) -> bool:
    references = as_list(as_map(found.get("metadata")).get("ownerReferences"))
    return any(as_map(each).get("uid") == uid for each in references)


def _newest(kind: Gvk, found: list[Json]) -> list[Json]:
    """Newest first, without ReplicaSets that have no pods and shall have none."""
    meant = (each for each in found if kind != _SET or _has_replicas(each))
    return sorted(meant, key=_created, reverse=True)


def _has_replicas(found: Json) -> bool:
    spec, status = as_map(found.get("spec")), as_map(found.get("status"))
    return bool(spec.get("replicas") or status.get("replicas"))


async def _objects_of(kind: Gvk, found: list[Json]) -> list[OwnedObject]:
    """In slices, since a thousand of them would hold the loop for too long."""
    objects = list[OwnedObject]()
    for begin in range(0, len(found), _AT_A_TIME):
        objects += [_object_of(kind, each) for each in found[begin : begin + _AT_A_TIME]]
        await asyncio.sleep(0)
    return objects


def _object_of(kind: Gvk, found: Json) -> OwnedObject:
    health = health_of(kind, found)
    namespace = str(as_map(found.get("metadata")).get("namespace") or "")
    words, created = (health.words, health.is_well), _created(found)
    name = _name_of(found)
    return OwnedObject(
        kind.kind, namespace, name, *words, why=health.why, created=created, gvk=kind
    )


def _name_of(found: Json) -> str:
    return str(as_map(found.get("metadata")).get("name") or "")


def _created(found: Json) -> str:
    return str(as_map(found.get("metadata")).get("creationTimestamp") or "")
