"""Plans for observed CRs, in the words of a reconcile: how much differs, and where."""

from __future__ import annotations

from collections.abc import Callable

from rolecall.json_object import Json
from rolecall.plan.model import PlannedRun
from rolecall.plan.planner import Planner, PlanRequest
from rolecall.reconcile import Drift
from rolecall.runner import RunHandle
from rolecall.watches import Watch


class PlannedDrift:
    """The `DriftFinder` of a reconcile."""

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
