"""What a planner needs from outside, as small Protocols."""

from __future__ import annotations

from typing import Protocol

from rolecall.gvk import Gvk
from rolecall.kube import Resource


class KindFinder(Protocol):
    """How the API server calls kinds; the client is the real one."""

    async def resource_for(self, gvk: Gvk) -> Resource: ...
