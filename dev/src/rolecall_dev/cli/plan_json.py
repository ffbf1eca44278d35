"""Plans for programs. Fields are only ever added; values are those that people are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rolecall.plan import NOT_THERE, FieldDifference, PlannedObject, PlannedRun, PlanNote, TaskPlace


def as_json(plans: Sequence[PlannedRun]) -> dict[str, Any]:
    """All plans of a command."""
    changes = Counter(planned.change.value for plan in plans for planned in plan.objects)
    return {
        "crs": [_plan(plan) for plan in plans],
        "summary": {
            "crs": len(plans),
            "changed": sum(not plan.is_empty for plan in plans),
            "unknown": sum(not plan.is_sure for plan in plans),
            "failed": sum(bool(plan.failure) for plan in plans),
            "objects": dict(changes),
        },
    }


def _plan(plan: PlannedRun) -> dict[str, Any]:
    return {
        "kind": plan.kind,
        "namespace": plan.namespace,
        "name": plan.name,
        "seconds": round(plan.seconds, 3),
        "failure": plan.failure,
        "unknown": plan.unknown,
        "objects": [_object(planned) for planned in plan.objects],
        "notes": [_note(note) for note in plan.notes],
    }


def _object(planned: PlannedObject) -> dict[str, Any]:
    return {
        "change": planned.change.value,
        "apiVersion": planned.gvk.api_version,
        "kind": planned.gvk.kind,
        "namespace": planned.namespace,
        "name": planned.name,
        "nameIsMadeUp": planned.is_name_made_up,
        "certainty": planned.certainty.value,
        "why": planned.why,
        "isPruned": planned.is_pruned,
        "tasks": [_place(place) for place in planned.tasks],
        "differences": [_difference(row) for row in planned.differences],
    }


def _difference(row: FieldDifference) -> dict[str, Any]:
    sides = {"before": row.before, "after": row.after}
    return {
        "path": row.path,
        **{name: value for name, value in sides.items() if value is not NOT_THERE},
    }


def _note(note: PlanNote) -> dict[str, Any]:
    return {"kind": note.kind, "what": note.what, **_place(note.at)}


def _place(place: TaskPlace) -> dict[str, str]:
    return {"task": place.task, "place": place.place}
