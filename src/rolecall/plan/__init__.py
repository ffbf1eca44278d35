"""Plans: what a run would do, found by running the play in a world where nothing is kept."""

from rolecall.plan.differences import NOT_THERE, FieldDifference, compared
from rolecall.plan.drift import PlannedDrift
from rolecall.plan.model import (
    Certainty,
    Change,
    PlannedObject,
    PlannedRun,
    PlanNote,
    TaskPlace,
)
from rolecall.plan.planner import Planner, PlanRequest
from rolecall.plan.world import PlanWorld

__all__ = [
    "NOT_THERE",
    "Certainty",
    "Change",
    "FieldDifference",
    "PlanNote",
    "PlanRequest",
    "PlanWorld",
    "PlannedDrift",
    "PlannedObject",
    "PlannedRun",
    "Planner",
    "TaskPlace",
    "compared",
]
