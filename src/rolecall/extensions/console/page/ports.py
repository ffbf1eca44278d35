"""What the page needs of an engine; `app.py` connects it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rolecall.errors import InputError
from rolecall.extending import EnginePorts, LastRuns
from rolecall.extensions.console.page.plans import MakePlan
from rolecall.kube import Client
from rolecall.plan import PlannedRun
from rolecall.record import RequestsSoFar
from rolecall.workqueue import Key


async def _no_plan(key: Key, _place: int) -> PlannedRun:
    raise InputError(f"this engine plans no runs of {key}")


@dataclass(frozen=True, slots=True)
class PagePorts:
    engine: EnginePorts
    last_runs: LastRuns
    root: Path  # of the artifacts
    own: Client  # the engine's: for access reviews, and for readers on its machine
    client_as: Callable[[str], Client]  # one that has this token, for the same API server
    plan: MakePlan = _no_plan
    # Of the CR's run in flight; None where there is none, or none is recorded.
    requests_so_far: Callable[[Key], RequestsSoFar | None] = lambda _key: None
