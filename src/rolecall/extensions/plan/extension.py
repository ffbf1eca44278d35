"""`mode: observe`: plans instead of runs, and status that says what a run would change."""

from __future__ import annotations

from collections.abc import Callable

from rolecall.extending import EngineView, Extension
from rolecall.extensions.plan.conditions import DriftApplied
from rolecall.extensions.plan.drift import PlannedDrift
from rolecall.extensions.plan.keys import PlanKeys
from rolecall.extensions.plan.observing import Observing
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.plan import Planner
from rolecall.reconcile import EndedRun, Outcome, TakenTurn, TurnView
from rolecall.workqueue import Key

DRIFTED_OBJECTS = MetricSpec(
    "rolecall_drifted_objects",
    MetricKind.GAUGE,
    ("GVK",),
    "Objects that runs would change, of the CRs that are observed.",
)


class PlanExtension(Extension):
    name = "plan"
    watch_keys = PlanKeys
    metrics = (DRIFTED_OBJECTS,)

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        planner = Planner(
            engine.runner,
            engine.issue_access_to_world,
            engine.client,
            engine.clock,
            engine.foresee,
            engine.spec_keys,
        )
        self._observing = Observing(PlannedDrift(planner), engine.events, self._on_drift)
        self._drifted: dict[Key, int] = {}

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:
        return await self._observing.turn(turn, taken)

    def condition_edit(self, run: EndedRun) -> DriftApplied | None:
        return self._observing.edit_after(run)

    async def on_gone(self, key: Key) -> None:
        self.forget_of(key.__eq__)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._observing.forget_of(is_meant)
        for key in [key for key in self._drifted if is_meant(key)]:
            self._on_drift(key, 0)

    def _on_drift(self, key: Key, objects: int) -> None:
        before = self._drifted.pop(key, 0)
        if objects:
            self._drifted[key] = objects
        if before != objects:
            self.engine.metrics.of(DRIFTED_OBJECTS, GVK=str(key.gvk)).inc(objects - before)
