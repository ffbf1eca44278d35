"""How far the cluster is from what a run of a CR would make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rolecall.json_object import Json
from rolecall.plan import PlannedRun, Planner, PlanRequest
from rolecall.reconcile import bounded
from rolecall.runner import RunHandle
from rolecall.watches import Watch

_SHOWN_PATHS = 3
_LONGEST_PATH, _LONGEST = 200, 1024


@dataclass(frozen=True, slots=True)
class Drift:
    objects: int = 0  # that a run would create, change or delete
    paths: Sequence[str] = ()  # `Deployment shop/web.spec.replicas`
    unknown: str = ""  # why it is not known

    def __str__(self) -> str:
        """What differs, in one line for people."""
        if self.unknown:
            return bounded(f"What a run would change is not known: {self.unknown}", _LONGEST)
        if not self.objects:
            return "A run would change nothing"
        shown = [bounded(path, _LONGEST_PATH) for path in self.paths[:_SHOWN_PATHS]]
        more = len(self.paths) - len(shown)
        rest = f" and {more} more" if more else ""
        count = f"{self.objects} object{'s' * (self.objects != 1)}"
        return f"A run would change {count}: {', '.join(shown)}{rest}"


class DriftFinder(Protocol):
    """Plans a run of a CR instead of running it."""

    async def find(
        self, run_id: str, cr: Json, watch: Watch, on_start: Callable[[RunHandle], None]
    ) -> Drift: ...


class PlannedDrift:
    """The `DriftFinder` of an engine."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    async def find(
        self, run_id: str, cr: Json, watch: Watch, on_start: Callable[[RunHandle], None]
    ) -> Drift:
        """Plan a run of the CR as it is."""
        request = PlanRequest(
            run_id,
            cr,
            watch,
            verbosity=watch.verbosity,
            keep_artifacts=watch.max_runner_artifacts,
            on_start=on_start,
        )
        return drift_in(await self._planner.plan(request))


def drift_in(plan: PlannedRun) -> Drift:
    """What a plan found; unknown where it did not come to its end."""
    return Drift(len(plan.objects), plan.differing_paths, plan.unknown)
