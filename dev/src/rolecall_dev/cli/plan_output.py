"""Plans for people and for programs: a heading for each CR, its objects as a diff, what is not sure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from rolecall.plan import (
    CHANGE_VERBS,
    NOT_THERE,
    Certainty,
    FieldDifference,
    PlannedChange,
    PlannedObject,
    PlannedRun,
    PlanNote,
    TaskPlace,
    counted_changes,
    note_text,
    plan_heading,
    planned_by,
    value_in_line,
    value_in_lines,
    whole_object_lines,
)

# Plans for people: a heading for each CR, its objects as a coloured diff, and what is not sure.

_SIGNS = {PlannedChange.CREATE: "+", PlannedChange.CHANGE: "~", PlannedChange.DELETE: "-"}
_COLOURS = {"+": "32", "-": "31", "~": "33", "!": "35"}
_LONGEST_VALUE = 100


class PlanWords:
    def __init__(self, out: TextIO, *, is_fleet: bool = False) -> None:
        self._out = out
        self._is_fleet = is_fleet
        self._has_colours = out.isatty() and "NO_COLOR" not in os.environ

    def show(self, plan: PlannedRun) -> None:
        """One CR's plan; of a fleet, a CR without a change is only counted."""
        if self._is_fleet and plan.is_empty and plan.is_sure:
            return
        for line in lines_of(plan):
            self._print(line)

    def conclude(self, plans: Sequence[PlannedRun]) -> None:
        """What all of them come to."""
        if self._is_fleet or len(plans) > 1:
            for line in summary(plans):
                self._print(line)

    def _print(self, line: str) -> None:
        colour = _COLOURS.get(line.strip()[:1], "")
        if self._has_colours and colour and line.startswith("  "):
            line = f"\x1b[{colour}m{line}\x1b[0m"
        print(line, file=self._out, flush=True)


def lines_of(plan: PlannedRun) -> Iterator[str]:
    """A plan, line by line."""
    yield f"{plan.title}: {plan_heading(plan)}"
    for planned in plan.objects:
        yield from _object_lines(planned)
    for note in plan.notes:
        at = "" if note.kind == "not shown" else f"  [{note.at}]"
        yield f"  ! {note_text(note)}{at}"
    if plan.failure:
        yield f"  ! unknown from here on: {plan.failure}"


def summary(plans: Sequence[PlannedRun]) -> Iterator[str]:
    """All CRs in a few lines."""
    failed = [plan for plan in plans if plan.failure]
    unknown = [plan for plan in plans if not plan.is_sure and not plan.failure]
    sure = [plan for plan in plans if plan.is_sure]
    changed = [plan for plan in sure if not plan.is_empty]
    yield (
        f"{len(plans)} CR{'s' * (len(plans) != 1)}: {len(sure) - len(changed)} without a change,"
        f" {len(changed)} with"
        + (f", {len(unknown)} unknown" if unknown else "")
        + (f", {len(failed)} whose role failed" if failed else "")
    )
    objects = [planned for plan in plans for planned in plan.objects]
    if so_many := counted_changes(objects):
        yield f"in all: {so_many}"
    hidden = (note.what for plan in plans for note in plan.notes if note.kind == "not shown")
    yield from (f"not shown: {what}" for what in dict.fromkeys(hidden))
    kinds = Counter((CHANGE_VERBS[planned.change], planned.gvk.kind) for planned in objects)
    for (verb, kind), count in sorted(kinds.items()):
        yield f"  {verb} {kind}: {count}"


def _object_lines(planned: PlannedObject) -> Iterator[str]:
    sign = _SIGNS[planned.change]
    made_up = " (a name like this)" if planned.is_name_made_up else ""
    yield f"  {sign} {planned.title}{made_up}  [{planned_by(planned)}]"
    if planned.certainty is not Certainty.EXACT:
        yield f"      ({planned.certainty.value}: {planned.why})"
    if planned.change is PlannedChange.CREATE:
        whole = whole_object_lines(planned.change, planned.differences)
        yield from (f"      + {line}" for line in whole)
    elif planned.change is PlannedChange.CHANGE:
        for row in planned.differences:
            yield from _change_lines(row)


def _change_lines(row: FieldDifference) -> Iterator[str]:
    before, after = (value_in_line(value) for value in (row.before, row.after))
    if len(before) + len(after) <= _LONGEST_VALUE and "\n" not in before + after:
        yield f"      ~ {row.path}: {before} -> {after}"
        return
    yield f"      ~ {row.path}:"
    for sign, value in (("-", row.before), ("+", row.after)):
        if value is not NOT_THERE:
            yield from (f"      {sign}   {line}" for line in value_in_lines(value))


# Plans for programs. Fields are only ever added; values are those that people are shown.
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
        "isPruned": planned.how == "pruned",
        "how": planned.how,
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
