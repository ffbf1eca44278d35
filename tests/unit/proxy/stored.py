"""One object of the tiny API server: read, written and merged into, at a version that counts up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from rolecall.json_object import Json
from tests.unit.proxy.crs import UID
from tests.unit.proxy.upstream import Received, answer

MARKS = {
    "operator-sdk/primary-resource": "prod/shop",
    "operator-sdk/primary-resource-type": "App.demo.example.com",
}
REFERENCE = {"apiVersion": "demo.example.com/v1", "kind": "App", "name": "shop", "uid": UID}
MERGE = "application/merge-patch+json"


@dataclass
class Stored:
    """`None`: it is not there yet. What `refusing` names by method is answered so instead."""

    document: Json | None
    refusing: dict[str, tuple[int, object]] = field(default_factory=dict)

    async def say(self, request: Received) -> None:
        """Answer as an API server would, but that all writes are of this one object."""
        if request.method in self.refusing:
            await answer(request, *self.refusing[request.method])
        elif request.method == "GET" and self.document is None:
            await answer(request, 404, {"kind": "Status", "code": 404})
        elif request.method == "GET":
            await answer(request, 200, self.document)
        else:
            await self._write(request, json.loads(request.body or b"{}"))

    async def _write(self, request: Received, sent: Json) -> None:
        is_new = self.document is None
        there: Json = self.document or {"metadata": {"uid": "u-1", "resourceVersion": "7"}}
        said = sent.get("metadata", {}).get("resourceVersion")
        if said not in {None, there["metadata"].get("resourceVersion")}:
            await answer(request, 409, {"kind": "Status", "code": 409})
            return
        self.document = merged(there, sent)
        self.document["metadata"]["resourceVersion"] = str(
            int(there["metadata"].get("resourceVersion", 0)) + 1
        )
        await answer(request, 201 if is_new else 200, self.document)


def stored(uid: str = "u-1", **metadata: object) -> Stored:
    """An object that is there."""
    named = {"name": "made", "uid": uid, "resourceVersion": "7", **metadata}
    return Stored({"kind": "ConfigMap", "metadata": named})


def merged(there: Json, more: Json) -> Json:
    """By the rules of a merge patch, but that nothing is taken away."""
    both = {**there, **more}
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(there.get(key), dict):
            both[key] = merged(there[key], value)
    return both
