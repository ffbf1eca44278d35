"""One Lease as a server keeps it, with the faults that servers have."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from rolecall.clock import Clock
from rolecall.election.record import LEASE
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, ConflictError, NotFoundError, Target, UnavailableError

_TARGET = Target("update", path="lease")


class StoredLease:
    """What all replicas share."""

    def __init__(self) -> None:
        self.lease: Json | None = None
        self.version = 0

    @property
    def holder(self) -> str:
        return str(self.lease["spec"]["holderIdentity"]) if self.lease else ""

    def write(self, body: Mapping[str, Any]) -> Json:
        self.version += 1
        self.lease = copy.deepcopy(dict(body))
        self.lease["metadata"]["resourceVersion"] = str(self.version)
        return copy.deepcopy(self.lease)


class Connection:
    """One replica's way to the server; may be cut, slow, or lose answers."""

    def __init__(self, stored: StoredLease, clock: Clock) -> None:
        self._stored = stored
        self._clock = clock
        self.is_cut = False
        self.loses_answers = False
        self.delay_s = 0.0

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        await self._travel(gvk)
        if self._stored.lease is None:
            raise NotFoundError("no", code=404, target=_TARGET)
        return self._answer(copy.deepcopy(self._stored.lease))

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        await self._travel(gvk)
        if self._stored.lease is not None:
            raise AlreadyExistsError("no", code=409, target=_TARGET)
        return self._answer(self._stored.write(body))

    async def replace(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        await self._travel(gvk)
        if self._stored.lease is None:
            raise NotFoundError("no", code=404, target=_TARGET)
        if body["metadata"]["resourceVersion"] != self._stored.lease["metadata"]["resourceVersion"]:
            raise ConflictError("no", code=409, target=_TARGET)
        return self._answer(self._stored.write(body))

    async def _travel(self, gvk: Gvk) -> None:
        assert gvk == LEASE
        if self.delay_s:
            await self._clock.sleep(self.delay_s)
        if self.is_cut:
            raise UnavailableError("cut")

    def _answer(self, body: Json) -> Json:
        if self.loses_answers:
            raise UnavailableError("lost", is_timeout=True)
        return body
