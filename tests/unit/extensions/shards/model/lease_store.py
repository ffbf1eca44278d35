"""Leases as an API server keeps them: versions, conflicts, one order of all writes, and a watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, ConflictError, NotFoundError, Target, WatchEvent

_TARGET = Target("update", path="lease")


class LeaseStore:
    """What all members share. Objects are never changed in place, so answers need no copies."""

    def __init__(self) -> None:
        self.leases: dict[str, Json] = {}
        self.writes: list[tuple[str, str]] = []  # verb and name
        self.watchers: list[asyncio.Queue[WatchEvent]] = []
        self._version = 0
        self._uid = 0

    def get(self, name: str) -> Json:
        if name not in self.leases:
            raise NotFoundError("no such lease", code=404, target=_TARGET)
        return self.leases[name]

    def labelled(self, selector: str) -> list[Json]:
        key, _, value = selector.partition("=")
        return [
            lease
            for lease in self.leases.values()
            if (lease["metadata"].get("labels") or {}).get(key) == value
        ]

    def create(self, body: Mapping[str, Any]) -> Json:
        name = body["metadata"]["name"]
        if name in self.leases:
            raise AlreadyExistsError("it exists", code=409, target=_TARGET)
        self._uid += 1
        return self._stored("create", body, {"uid": f"u{self._uid}"})

    def replace(self, body: Mapping[str, Any]) -> Json:
        stored = self.get(body["metadata"]["name"])
        if body["metadata"]["resourceVersion"] != stored["metadata"]["resourceVersion"]:
            raise ConflictError("it changed", code=409, target=_TARGET)
        return self._stored("update", body, {"uid": stored["metadata"]["uid"]})

    def delete(self, name: str, version: str = "") -> None:
        stored = self.get(name)
        if version and version != stored["metadata"]["resourceVersion"]:
            raise ConflictError("it changed", code=409, target=_TARGET)
        self.writes.append(("delete", name))
        del self.leases[name]
        self._report("DELETED", stored)

    def edit(self, name: str, change: Callable[[Json], Json]) -> None:
        """As a person does, who asks for no version; nothing happens to what is not there."""
        if name in self.leases:
            uid = {"uid": self.leases[name]["metadata"]["uid"]}
            self._stored("edit", change(self.leases[name]), uid)

    def _stored(self, verb: str, body: Mapping[str, Any], kept: Json) -> Json:
        self._version += 1
        version = {"resourceVersion": str(self._version)}
        lease = {**body, "metadata": {**body["metadata"], **kept, **version}}
        name = lease["metadata"]["name"]
        is_new = name not in self.leases
        self.leases[name] = lease
        self.writes.append((verb, name))
        self._report("ADDED" if is_new else "MODIFIED", lease)
        return lease

    def _report(self, kind: str, lease: Json) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(WatchEvent(kind, lease))
