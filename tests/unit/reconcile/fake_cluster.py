"""An API server of one kind, in memory: as strict as the real one in all that reconcile relies on.

`cluster_contract.py` holds it to that: the same tests run against the fake and against a real server.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ConflictError, NotFoundError, Target, UnprocessableError

Place = tuple[str, str]

# Called before each write with verb and subresource; may change the world, or raise.
Intruder = Callable[[str, str], Awaitable[None]]


class FakeCluster:
    """An `ObjectApi` with what tests need to look at it and to interfere."""

    def __init__(
        self,
        *,
        has_status: bool = True,
        prunes: frozenset[str] = frozenset(),
        uid_prefix: str = "u",
    ) -> None:
        self.objects: dict[Place, Json] = {}
        self.calls: list[str] = []
        self.intruder: Intruder | None = None
        self._has_status = has_status
        self._prunes = prunes  # paths as `conditions`, `conditions[].ansibleResult`
        self._versions = count(1)
        self._uids = (f"{uid_prefix}{number}" for number in count(1))

    # What the engine calls.

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        self.calls.append("get")
        return copy.deepcopy(self._found("get", namespace, name))

    async def merge_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> Json:
        self.calls.append(f"patch {subresource}".strip())
        if self.intruder is not None:
            await self.intruder("patch", subresource)
        present = self._found("patch", namespace, name)
        if subresource and not self._has_status:
            raise _not_found("patch", name)
        version = (patch.get("metadata") or {}).get("resourceVersion")
        if version not in (None, present["metadata"]["resourceVersion"]):
            raise ConflictError("the object was modified", code=409, target=Target("patch"))
        wanted = _merged(present, patch)
        return copy.deepcopy(self._stored(present, wanted, subresource))

    async def json_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
    ) -> Json:
        self.calls.append(f"steps {subresource}".strip())
        if self.intruder is not None:
            await self.intruder("patch", subresource)
        present = self._found("patch", namespace, name)
        if subresource and not self._has_status:
            raise _not_found("patch", name)
        wanted = copy.deepcopy(present)
        for step in steps:
            _make_step(wanted, step)
        return copy.deepcopy(self._stored(present, wanted, subresource))

    async def replace(self, gvk: Gvk, body: Mapping[str, Any], *, subresource: str = "") -> Json:
        self.calls.append(f"put {subresource}".strip())
        if self.intruder is not None:
            await self.intruder("update", subresource)
        metadata = body["metadata"]
        present = self._found("update", metadata.get("namespace", ""), metadata["name"])
        if metadata.get("resourceVersion") != present["metadata"]["resourceVersion"]:
            raise ConflictError("the object was modified", code=409, target=Target("update"))
        return copy.deepcopy(self._stored(present, dict(body), subresource))

    # What tests call.

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        cr = copy.deepcopy(dict(body))
        cr["metadata"] |= {
            "uid": next(self._uids),
            "generation": 1,
            "resourceVersion": self._tick(),
        }
        self.objects[cr["metadata"].get("namespace", ""), cr["metadata"]["name"]] = cr
        return copy.deepcopy(cr)

    async def delete(self, gvk: Gvk, namespace: str, name: str) -> None:
        cr = self._found("delete", namespace, name)
        if not cr["metadata"].get("finalizers"):
            del self.objects[namespace, name]
        elif not cr["metadata"].get("deletionTimestamp"):
            cr["metadata"]["deletionTimestamp"] = "2026-11-21T09:00:00Z"
            cr["metadata"]["generation"] += 1
            cr["metadata"]["resourceVersion"] = self._tick()

    def _found(self, verb: str, namespace: str, name: str) -> Json:
        try:
            return self.objects[namespace, name]
        except KeyError:
            raise _not_found(verb, name) from None

    def _stored(self, present: Json, wanted: Json, subresource: str) -> Json:
        stored = copy.deepcopy(present)
        if subresource == "status":
            stored["status"] = self._pruned(wanted.get("status") or {})
        else:
            _check_finalizers(present, wanted)
            status = stored.get("status") if self._has_status else wanted.get("status")
            frozen = {
                name: present["metadata"].get(name)
                for name in ("uid", "generation", "deletionTimestamp")
                if name in present["metadata"]
            }
            stored = {**copy.deepcopy(wanted), "metadata": {**wanted["metadata"], **frozen}}
            stored.pop("status", None)
            if status is not None:
                stored["status"] = status
        metadata = stored["metadata"]
        if not metadata.get("finalizers"):
            metadata.pop("finalizers", None)
        metadata["resourceVersion"] = present["metadata"]["resourceVersion"]
        if stored == present:
            return present
        if stored.get("spec") != present.get("spec"):
            metadata["generation"] += 1
        metadata["resourceVersion"] = self._tick()
        place = metadata.get("namespace", ""), metadata["name"]
        self.objects[place] = stored
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            del self.objects[place]
        return stored

    def _pruned(self, status: Json) -> Json:
        kept = {key: value for key, value in status.items() if key not in self._prunes}
        if "conditions" in kept:
            kept["conditions"] = [
                {
                    name: value
                    for name, value in item.items()
                    if f"conditions[].{name}" not in self._prunes
                }
                for item in kept["conditions"]
            ]
        return kept

    def _tick(self) -> str:
        return str(next(self._versions))


def _check_finalizers(present: Json, wanted: Json) -> None:
    before = set(present["metadata"].get("finalizers") or ())
    after = set(wanted["metadata"].get("finalizers") or ())
    if present["metadata"].get("deletionTimestamp") and after - before:
        message = "no new finalizers can be added if the object is being deleted"
        raise UnprocessableError(message, code=422, target=Target("patch"))


def _make_step(document: Json, step: Mapping[str, Any]) -> None:
    """As much of RFC 6902 as is used: `test` and `add`, of keys of maps."""
    *path, key = step["path"].strip("/").split("/")
    for name in path:
        if not isinstance(document.get(name), dict):
            raise UnprocessableError("no such path", code=422, target=Target("patch"))
        document = document[name]
    if step["op"] == "add":
        document[key] = step["value"]
    elif step["op"] != "test":
        raise UnprocessableError("no such operation", code=422, target=Target("patch"))
    elif document.get(key) != step["value"]:
        raise UnprocessableError("test failed", code=422, target=Target("patch"))


def _merged(present: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    merged = dict(present) if isinstance(present, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _not_found(verb: str, name: str) -> NotFoundError:
    return NotFoundError(f"`{name}` not found", code=404, target=Target(verb))
