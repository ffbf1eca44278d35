"""An API server in memory: what the proxy of a run and the client of a pruner ask it for."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, ConflictError, NotFoundError, Target

HOME = "a"


class Kind(NamedTuple):
    group: str
    version: str
    kind: str
    plural: str

    @property
    def gvk(self) -> Gvk:
        return Gvk(self.group, self.version, self.kind)


CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
THING = Kind("demo.example.com", "v1", "Thing", "things")
SOURCE = Kind("ext.example.com", "v1", "Source", "sources")
SHELF = Kind("demo.example.com", "v1", "Shelf", "shelves")
HEAP = Kind("demo.example.com", "v1", "Heap", "heaps")
KINDS = {each.gvk: each for each in (CONFIG_MAP, DEPLOYMENT, CLAIM, THING, SOURCE, SHELF, HEAP)}
_GOOD = {"verbs": frozenset({"get", "delete"})}


class Place(NamedTuple):
    kind: Kind
    namespace: str
    name: str


class Abort(BaseException):
    """The engine is killed here."""


# Asked before each request of the engine's own; what it returns is raised.
Fault = Callable[[str, Gvk], BaseException | None]


@dataclass
class Api:
    """Objects by place; `on_delete` is asked before the engine deletes one of a play."""

    on_delete: Callable[[Place, Json], None] = lambda *_: None
    fault: Fault = lambda *_: None
    objects: dict[Place, Json] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    # What plays and people do.

    def put(self, place: Place, **metadata: Any) -> Json:
        """Create it, or write it once more."""
        there = self.objects.get(place)
        about = there["metadata"] if there else {"uid": f"u{next(self._numbers)}"}
        named = {"name": place.name, "namespace": place.namespace}
        changed = about | named | metadata | {"resourceVersion": str(next(self._numbers))}
        self.objects[place] = {"kind": place.kind.kind, "metadata": changed}
        return self.objects[place]

    def listed(self, kind: Kind, label: str) -> list[Json]:
        return [
            each
            for place, each in self.objects.items()
            if place.kind == kind and (not label or label in each["metadata"].get("labels", {}))
        ]

    # What the engine does: the part of `Client` that pruning uses.

    @property
    def discovery(self) -> Any:
        return SimpleNamespace(by_plural=self._by_plural)

    async def _by_plural(self, group: str, version: str, plural: str) -> object | None:
        found = (
            each
            for each in KINDS.values()
            if (each.group, each.version, each.plural) == (group, version, plural)
        )
        kind = next(found, None)
        self._ask("discover", kind.gvk if kind else Gvk(group, version, ""))
        return SimpleNamespace(gvk=kind.gvk, **_GOOD) if kind else None

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        self._ask("get", gvk)
        return copy.deepcopy(self._found(gvk, namespace, name)[1])

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        self._ask("create", gvk)
        metadata = body["metadata"]
        place = Place(KINDS[gvk], metadata["namespace"], metadata["name"])
        if place in self.objects:
            raise AlreadyExistsError("there", code=409, target=Target("create"))
        return self._store(place, body)

    async def replace(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        self._ask("replace", gvk)
        metadata = body["metadata"]
        return self._store(self._found(gvk, metadata["namespace"], metadata["name"])[0], body)

    async def merge_patch(
        self, gvk: Gvk, namespace: str, name: str, patch: Mapping[str, Any]
    ) -> Json:
        self._ask("patch", gvk)
        place, found = self._found(gvk, namespace, name)
        changed = dict(patch.get("metadata") or {})
        version = changed.pop("resourceVersion", None)
        if version not in (None, found["metadata"]["resourceVersion"]):
            raise ConflictError("changed", code=409, target=Target("patch"))
        body = {**found, **patch, "metadata": found["metadata"] | changed}
        return self._store(place, body)

    async def delete(
        self, gvk: Gvk, namespace: str, name: str, *, uid: str = "", version: str = "", **_: str
    ) -> None:
        self._ask("delete", gvk)
        place, found = self._found(gvk, namespace, name)
        metadata = found["metadata"]
        if uid not in ("", metadata["uid"]) or version not in ("", metadata["resourceVersion"]):
            raise ConflictError("changed", code=409, target=Target("delete"))
        if place.namespace == HOME:
            self.on_delete(place, found)
        del self.objects[place]

    async def pages(
        self, gvk: Gvk, namespace: str = "", *, label_selector: str = ""
    ) -> AsyncIterator[Any]:
        self._ask("list", gvk)
        wanted = dict(part.split("=") for part in label_selector.split(",") if part)
        items = [
            each
            for place, each in self.objects.items()
            if place.kind.gvk == gvk
            and place.namespace == namespace
            and wanted.items() <= each["metadata"].get("labels", {}).items()
        ]
        yield SimpleNamespace(items=copy.deepcopy(items))

    def _ask(self, verb: str, gvk: Gvk) -> None:
        if failure := self.fault(verb, gvk):
            raise failure

    def _found(self, gvk: Gvk, namespace: str, name: str) -> tuple[Place, Json]:
        place = Place(KINDS[gvk], namespace, name)
        if place not in self.objects:
            raise NotFoundError("gone", code=404, target=Target("get"))
        return place, self.objects[place]

    def _store(self, place: Place, body: Mapping[str, Any]) -> Json:
        stored: Json = json.loads(json.dumps(body))
        fresh = {"uid": f"u{next(self._numbers)}"}
        stored["metadata"] = fresh | stored["metadata"]
        stored["metadata"]["resourceVersion"] = str(next(self._numbers))
        self.objects[place] = stored
        return stored
