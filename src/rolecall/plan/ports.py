"""What a planner needs from outside, as small Protocols."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Resource
from rolecall.proxy import World
from rolecall.reconcile import RunAccess
from rolecall.record import RunRecord
from rolecall.watches import Watch


class PlanAccess(Protocol):
    """Hands out kubeconfigs that lead into a world; the proxy is the real one."""

    def issue_plan_access(
        self, run_id: str, cr: Json, watch: Watch, world: World
    ) -> AbstractAsyncContextManager[RunAccess]: ...


class KindFinder(Protocol):
    """How the API server calls kinds; the client is the real one."""

    async def resource_for(self, gvk: Gvk) -> Resource: ...


class Prunes(Protocol):
    """What pruning would take away after a run with such a record: titles, for people."""

    async def __call__(self, cr: Json, watch: Watch, record: RunRecord) -> Sequence[str]: ...


async def prunes_nothing(cr: Json, watch: Watch, record: RunRecord) -> Sequence[str]:  # noqa: ARG001 - a port
    """Where nothing is pruned."""
    return ()
