"""The calls that shards make, each with an end: a server that hangs must not keep a replica waiting.

Says once what the API server refuses, and again only after it was well in between.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from rolecall.clock import Clock
from rolecall.election import LEASE, LeaseApi
from rolecall.errors import ClusterError
from rolecall.extensions.shards.lease_shapes import Naming
from rolecall.extensions.shards.waits import in_time
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ConflictError, ForbiddenError, NotFoundError, WatchEvent
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
T = TypeVar("T")
_WATCH = "watch"
_CONSEQUENCE = ("this replica takes no shard", "changes of shards are seen some seconds later")


class ShardLeaseApi(LeaseApi, Protocol):
    """The calls to the API server; `kube.Client` is the real one."""

    async def list_all(
        self, gvk: Gvk, namespace: str = "", *, label_selector: str = ""
    ) -> list[Json]: ...

    async def delete(
        self, gvk: Gvk, namespace: str, name: str, *, uid: str = "", version: str = ""
    ) -> None: ...

    def watch(
        self, gvk: Gvk, namespace: str = "", *, resource_version: str, label_selector: str = ""
    ) -> AsyncGenerator[WatchEvent]: ...


class LeaseCalls:
    """Typed to what shards need, in their namespace."""

    def __init__(
        self, lease_api: ShardLeaseApi, naming: Naming, clock: Clock, limit_s: float
    ) -> None:
        self._api = lease_api
        self._naming = naming
        self._clock = clock
        self._limit_s = limit_s
        self._refused: dict[str, str] = {}  # verb: why, as it was said

    @property
    def refusal(self) -> str:
        """What is refused now, and keeps this replica from shards; empty: nothing."""
        return next((why for verb, why in self._refused.items() if verb != _WATCH), "")

    async def get(self, name: str) -> Json:
        return await self._made("get", self._api.get(LEASE, self._naming.namespace, name))

    async def create(self, lease: Mapping[str, Any]) -> Json:
        return await self._made("create", self._api.create(LEASE, lease))

    async def replace(self, lease: Mapping[str, Any]) -> Json:
        return await self._made("update", self._api.replace(LEASE, lease))

    async def delete(self, name: str, version: str) -> None:
        call = self._api.delete(LEASE, self._naming.namespace, name, version=version)
        await self._made("delete", call)

    async def list_labelled(self) -> list[Json]:
        call = self._api.list_all(
            LEASE, self._naming.namespace, label_selector=self._naming.selector
        )
        return await self._made("list", call)

    def watch(self) -> AsyncGenerator[WatchEvent]:
        return self._api.watch(
            LEASE,
            self._naming.namespace,
            resource_version="",
            label_selector=self._naming.selector,
        )

    def note_watch(self, failure: ClusterError) -> None:
        self._note(_WATCH, failure)

    def _note(self, verb: str, failure: ClusterError | None) -> None:
        """Say once that a call was refused; None: it was answered."""
        if not isinstance(failure, ForbiddenError):
            self._refused.pop(verb, None)
            return
        if self._refused.get(verb) != failure.message:
            self._refused[verb] = failure.message
            _logger.error(
                "not allowed what shards need",
                extra=log_fields(
                    error=failure.message,
                    consequence=_CONSEQUENCE[verb == _WATCH],
                    hint=failure.hint,
                ),
            )

    async def _made(self, verb: str, call: Coroutine[Any, Any, T]) -> T:
        try:
            answer = await in_time(self._clock, call, self._limit_s)
        except (ForbiddenError, NotFoundError, ConflictError) as failure:
            self._note(verb, failure)
            raise
        except ClusterError:
            raise  # says nothing of rights
        self._note(verb, None)
        return answer
