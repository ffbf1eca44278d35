"""What a planner needs from outside, as small Protocols."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Resource
from rolecall.proxy import World
from rolecall.reconcile import RunAccess
from rolecall.watches import Watch


class PlanAccess(Protocol):
    """Hands out kubeconfigs that lead into a world; the proxy is the real one."""

    def issue_access_to_world(
        self, run_id: str, cr: Json, watch: Watch, world: World
    ) -> AbstractAsyncContextManager[RunAccess]: ...


class KindFinder(Protocol):
    """How the API server calls kinds; the client is the real one."""

    async def resource_for(self, gvk: Gvk) -> Resource: ...
