"""A plan as it is kept and shown: words and lines of a diff, bounded, secret values masked.

The objects of a plan may be megabytes, and hold what the play saw; neither is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from typing import Any, TypeVar

from rolecall.plan import (
    CHANGE_VERBS,
    NOT_THERE,
    Certainty,
    FieldDifference,
    PlannedChange,
    PlannedObject,
    PlannedRun,
    note_text,
    plan_heading,
    planned_by,
    value_in_line,
    whole_object_lines,
)

_MOST_OBJECTS, _MOST_NOTES, _MOST_LINES = 100, 50, 1_000
# Of a plan's lines together, in characters; of one line, and of a sentence.
_MOST_TEXT, _LONGEST_LINE, _LONGEST_WORDS = 60_000, 300, 1_000
_T = TypeVar("_T")
_MOST_COMPARED = 500  # lines of one value; comparing takes the square of it


@dataclass(frozen=True, slots=True)
class DiffLine:
    sign: str  # + is new, - is old, ~ is where it is, empty is around it
    text: str


@dataclass(frozen=True, slots=True)
class ObjectDiff:
    """What a run would do to one object."""

    verb: str
    title: str
    tasks: str
    certainty: str
    why: str  # it is not exact
    is_name_made_up: bool
    lines: tuple[DiffLine, ...]
    is_cut: bool = False  # there is more than these lines


@dataclass(frozen=True, slots=True)
class PlanDiff:
    heading: str
    objects: tuple[ObjectDiff, ...]
    notes: tuple[tuple[str, str], ...]  # what, and by which task
    failure: str
    seconds: float
    is_sure: bool
    more_objects: int = 0
    more_notes: int = 0


def diff_of(plan: PlannedRun) -> PlanDiff:
    """Takes long for large objects: call it in a thread."""
    left = _Room()
    return PlanDiff(
        _words(plan_heading(plan)),
        tuple(_object_diff(each, left) for each in plan.objects[:_MOST_OBJECTS]),
        tuple((_words(note_text(each)), _words(str(each.at))) for each in plan.notes[:_MOST_NOTES]),
        _words(plan.failure),
        plan.seconds,
        plan.is_sure,
        max(0, len(plan.objects) - _MOST_OBJECTS),
        max(0, len(plan.notes) - _MOST_NOTES),
    )


class _Room:
    """What a plan may still take of memory."""

    def __init__(self) -> None:
        self._lines, self._text = _MOST_LINES, _MOST_TEXT

    @property
    def is_full(self) -> bool:
        return self._lines < 0 or self._text < 0

    def takes(self, line: DiffLine) -> bool:
        self._lines -= 1
        self._text -= len(line.text)
        return not self.is_full


def _object_diff(planned: PlannedObject, left: _Room) -> ObjectDiff:
    shown, bound = list[DiffLine](), _Bound()
    for line in _lines(planned, bound) if not left.is_full else ():
        cut = DiffLine(line.sign, _cut(line.text, _LONGEST_LINE))
        if not left.takes(cut):
            break
        shown.append(cut)
    return ObjectDiff(
        CHANGE_VERBS[planned.change],
        _words(planned.title),
        _words(planned_by(planned)),
        planned.certainty.value if planned.certainty is not Certainty.EXACT else "",
        _words(str(planned.hide(planned.why))),
        planned.is_name_made_up,
        tuple(shown),
        left.is_full or bound.is_reached,
    )


class _Bound:
    """Cuts the values of one object: YAML of megabytes takes minutes to write."""

    def __init__(self) -> None:
        self._left = _MOST_TEXT

    @property
    def is_reached(self) -> bool:
        return self._left < 0

    def row(self, row: FieldDifference) -> FieldDifference:
        return FieldDifference(row.path, self._value(row.before), self._value(row.after))

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._value(key): self._value(item) for key, item in self._first(value.items())}
        if isinstance(value, list):
            return [self._value(item) for item in self._first(value)]
        if not isinstance(value, str):
            self._left -= 1
            return value
        kept = value[: max(0, self._left)]
        self._left -= len(value) + 1
        return kept

    def _first(self, items: Iterable[_T]) -> Iterator[_T]:
        for item in items:
            if self.is_reached:
                return
            yield item


def _lines(planned: PlannedObject, bound: _Bound) -> Iterator[DiffLine]:
    rows = map(bound.row, planned.differences)
    if planned.change is PlannedChange.CHANGE:
        for row in rows:
            yield from _changed_lines(row)
    else:
        sign = "+" if planned.change is PlannedChange.CREATE else "-"
        yield from (DiffLine(sign, line) for line in whole_object_lines(planned.change, rows))


def _changed_lines(row: FieldDifference) -> Iterator[DiffLine]:
    before, after = row.before, row.after
    if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield DiffLine("~", row.path)
        old, new = (text.splitlines()[:_MOST_COMPARED] for text in (before, after))
        changed = unified_diff(old, new, n=2, lineterm="")
        for line in islice(changed, 2, None):  # without the names of files
            sign = "~" if line.startswith("@@") else line[:1].strip()
            yield DiffLine(sign, line if sign == "~" else line[1:])
        return
    for sign, value in (("-", before), ("+", after)):
        if value is not NOT_THERE:
            yield DiffLine(sign, f"{row.path}: {value_in_line(value)}")


def _words(text: str) -> str:
    return _cut(text, _LONGEST_WORDS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… and {len(text) - most:,} more"
