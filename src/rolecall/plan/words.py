"""A plan in words: for the command that prints it, and for the page that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from rolecall.plan.differences import NOT_THERE, FieldDifference
from rolecall.plan.model import PlannedChange, PlannedObject, PlannedRun, PlanNote

CHANGE_VERBS = {
    PlannedChange.CREATE: "create",
    PlannedChange.CHANGE: "change",
    PlannedChange.DELETE: "delete",
}
_NOTES = {
    "wait": "would wait for",
    "left out": "left out",
    "unknown": "unknown",
    "not shown": "not shown",
}


def plan_heading(plan: PlannedRun) -> str:
    so_many = counted_changes(plan.objects)
    if plan.failure:
        return f"its role failed; {so_many} before that" if so_many else "its role failed"
    if not plan.is_sure:
        return f"{so_many}, and what is unknown" if so_many else "unknown"
    return so_many or "nothing to change"


def whole_object_lines(change: PlannedChange, rows: Iterable[FieldDifference]) -> list[str]:
    """An object that comes, as YAML; or one that goes."""
    is_gone = change is PlannedChange.DELETE
    found = ((row.path, row.before if is_gone else row.after) for row in rows)
    document = {path.removeprefix("."): value for path, value in found if value is not NOT_THERE}
    return value_in_lines(document)


def value_in_lines(value: Any) -> list[str]:
    text = yaml.safe_dump(value, sort_keys=False, default_flow_style=False, width=100)
    return text.removesuffix("...\n").rstrip("\n").splitlines()


def value_in_line(value: Any) -> str:
    if value is NOT_THERE:
        return "(none)"
    if isinstance(value, str):
        return value if value and value.strip() == value else repr(value)
    return (
        yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()
    )


def counted_changes(objects: Sequence[PlannedObject]) -> str:
    counts = Counter(planned.change for planned in objects)
    return ", ".join(
        f"{counts[change]} to {CHANGE_VERBS[change]}" for change in PlannedChange if counts[change]
    )


def planned_by(planned: PlannedObject) -> str:
    """What would do it."""
    if planned.how:
        return f"no task: {planned.how}"
    return ", ".join(str(place) for place in planned.tasks)


def note_text(note: PlanNote) -> str:
    return f"{_NOTES[note.kind]}: {note.what}"
