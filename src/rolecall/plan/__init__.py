"""Plans: what a run would do, found by running the play in a world where nothing is kept."""

from rolecall.plan.differences import NOT_THERE, FieldDifference, compared
from rolecall.plan.model import (
    Certainty,
    PlannedChange,
    PlannedObject,
    PlannedRun,
    PlanNote,
    TaskPlace,
)
from rolecall.plan.planner import Planner, PlanRequest
from rolecall.plan.words import (
    CHANGE_VERBS,
    counted_changes,
    note_text,
    plan_heading,
    planned_by,
    value_in_line,
    value_in_lines,
    whole_object_lines,
)
from rolecall.plan.world import PlanWorld

__all__ = [
    "CHANGE_VERBS",
    "NOT_THERE",
    "Certainty",
    "FieldDifference",
    "PlanNote",
    "PlanRequest",
    "PlanWorld",
    "PlannedChange",
    "PlannedObject",
    "PlannedRun",
    "Planner",
    "TaskPlace",
    "compared",
    "counted_changes",
    "note_text",
    "plan_heading",
    "planned_by",
    "value_in_line",
    "value_in_lines",
    "whole_object_lines",
]
