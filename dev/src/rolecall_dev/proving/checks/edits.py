"""Edits: each field of the spec gets other values, and the old one again.

Three things are held against each other, and none needs to know what the field means. After A, B, A
all is as after A. An edit to B leaves what a CR that was created with B has: else something of A was
not taken back. And a field of which no value changes anything is dead. A value with which the run fails
must say so in words, and the next good edit must mend it.

Not every difference is a fault: a volume cannot shrink. Where the status says that something is wrong,
the author knows, and it is shown as a note.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json, as_map
from rolecall.kube import UnprocessableError
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import Expected, TestedCr, failure_message, says_failed
from rolecall_dev.staging import EndState, differences, shown_value

_NAME = "edits"
_SOON_S = 2.0


def _cases(subject: Subject) -> list[Case]:
    if subject.undisturbed.fails:
        return []
    is_alone = not subject.undisturbed.is_confined
    return [
        Case(
            check=_NAME,
            subject=str(subject.sample),
            reported=field.name,
            params={"path": list(field.path), "values": list(field.values)},
            worth=2.2
            if value_at(subject.sample.cr.get("spec") or {}, field.path) is not None
            else 1.4,
            is_alone=is_alone,
        )
        for field in fields_of(subject.schema, subject.sample.cr.get("spec") or {})
    ]


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    field = FieldOfSpec(tuple(case.params["path"]), tuple(case.params["values"]))
    problems: list[CaseProblem] = []
    effects: list[bool] = []
    values = list(field.values)
    while values:
        async with bench.tested(subject) as tested:
            await tested.create()
            await tested.settle(subject.undisturbed.expected)
            # What is not as it was must not be taken for a fault of the next value: that gets a new CR.
            is_as_it_was = True
            while values and is_as_it_was:
                trial = _Trial(bench, subject, case, field, values.pop(0))
                found = await trial.run(tested)
                problems += found
                effects += [trial.has_effect] if trial.was_taken else []
                is_as_it_was = not found and not trial.ends_here
    if effects and not any(effects) and not problems:
        problems += _dead(bench, subject, field, effects)
    return problems


class _Trial:
    """One other value, and back."""

    def __init__(
        self, bench: Bench, subject: Subject, case: Case, field: FieldOfSpec, value: Any
    ) -> None:
        self._bench, self._subject, self._case = bench, subject, case
        self._field, self._value = field, value
        self._good: Json = subject.sample.cr.get("spec") or {}
        self._other = with_value(self._good, field.path, value)
        self.was_taken = False
        self.ends_here = False  # the CR is no longer what it should be
        self.has_effect = False

    @property
    def _shown(self) -> str:
        return f"{self._field.name} {'absent' if self._value == LEFT_OUT else shown_value(self._value)}"

    async def run(self, tested: TestedCr) -> list[CaseProblem]:
        known = self._subject.undisturbed
        try:
            await tested.edit(self._other)
        except UnprocessableError:
            return []  # the API server says no
        self.was_taken = True
        after = (await tested.settle(patience_s=_SOON_S)).state
        cr = await tested.cr()
        self.has_effect = bool(_beside_spec(self._subject, known.end, after))
        problems = (
            self._failing(tested, cr)
            if says_failed(cr)
            else await self._like_created(tested, after)
        )
        try:
            await tested.edit(self._good)
        except UnprocessableError as error:
            self.ends_here = True
            self._bench.reported.note(
                f"{self._case.name}: no way back from {self._shown}: {error.message}"
            )
            return problems
        return problems or await self._back(tested, was_failing=says_failed(cr))

    def _failing(self, tested: TestedCr, cr: Json) -> list[CaseProblem]:
        self.has_effect = True
        if failure_message(cr):
            return []
        return [
            self._problem(
                tested,
                f"with {self._shown} the run fails, and the status does not say why",
                "a message that says what is wrong",
                "no message",
                remedy="Forbid the value in the CRD's schema, or let the role fail with a message"
                " (`rolecall.operator.refuse`).",
            )
        ]

    async def _like_created(self, edited: TestedCr, after: EndState) -> list[CaseProblem]:
        """Against a CR that was created with the other value."""
        leeway = self._subject.undisturbed.leeway
        if not self._subject.undisturbed.is_confined:
            return []  # the two would want the same objects
        async with self._bench.tested(self._subject) as tested:
            try:
                await tested.create(self._other)
            except UnprocessableError:
                return []
            settled = await tested.settle(Expected(after, leeway))
            if settled.is_as_expected:
                return []
            # It may have come to it meanwhile, and be in a run that a period brought.
            found = (await edited.settle(Expected(settled.state, leeway))).differences
        if not found:
            return []
        if says_failed(await edited.cr()):
            self._bench.reported.note(
                f"{self._case.name}: an edit to {self._shown} cannot be done, and the status says so"
            )
            return []
        return [
            self._problem(
                edited,
                f"an edit to {self._shown} leaves something else than a CR created with it has",
                "an edit takes back what the value before had made",
                shown_differences(found),
                tuple(map(str, found)),
                remedy="Apply the whole object instead of patching it, and delete what the new value no"
                " longer needs (`prune: true` in watches.yaml).",
            )
        ]

    async def _back(self, tested: TestedCr, *, was_failing: bool) -> list[CaseProblem]:
        settled = await tested.settle(self._subject.undisturbed.expected)
        if settled.is_as_expected:
            return []
        if says_failed(await tested.cr()) and not was_failing:
            self._bench.reported.note(
                f"{self._case.name}: from {self._shown} there is no way back, and the status says so"
            )
            return []
        after = "a value with which the run failed" if was_failing else "another value and back"
        return [
            self._problem(
                tested,
                f"after {self._shown} and back it is not as before",
                f"after {after}, all is as it was",
                shown_differences(settled.differences) or "it never settles",
                tuple(map(str, settled.differences)),
                remedy="Derive each object from the spec alone, and delete what belonged to the other"
                " value.",
            )
        ]

    def _problem(
        self,
        tested: TestedCr,
        reported: str,
        expected: str,
        found: str,
        differences: tuple[str, ...] = (),
        *,
        remedy: str,
    ) -> CaseProblem:
        params = {"path": list(self._field.path), "values": [self._value]}
        wrote = tested.traffic.effects[-1:]
        return CaseProblem(
            reported=reported,
            expected=expected,
            found=found,
            remedy=remedy,
            requests=around(tested.traffic.requests, None),
            place=self._subject.undisturbed.place_of(wrote[0]) if wrote else "",
            case=Case(_NAME, self._case.subject, self._shown, params, is_alone=self._case.is_alone),
            alike=f"{self._field.name} {found}",
            differences=differences,
        )


def _beside_spec(subject: Subject, before: EndState, after: EndState) -> list[Any]:
    """What differs beside the CR's own spec."""
    key = f"{subject.sample.gvk.group_kind}/{subject.sample.name}"
    return [
        each
        for each in differences(before, after, subject.undisturbed.leeway)
        if not (each.id == key and each.path.startswith(".spec"))
    ]


def _dead(
    bench: Bench, subject: Subject, field: FieldOfSpec, effects: list[bool]
) -> list[CaseProblem]:
    """A field that the sample sets and that does nothing is a fault; of others nothing is known."""
    text = f"no value of {field.name} that was tried changes anything ({len(effects)} were)"
    if value_at(subject.sample.cr.get("spec") or {}, field.path) is None:
        bench.reported.note(f"{subject.sample}: {text}; it may matter only beside others")
        return []
    return [
        CaseProblem(
            reported=f"{field.name} is dead: {text}",
            expected="what the sample sets changes something, in an object or in the status",
            found="the same objects and the same status",
            remedy="Use the field in the role, or remove it from the CRD and the sample.",
            alike=f"dead {field.name}",
        )
    ]


EDITS = OperatorCheck(
    _NAME, "each field of the spec gets other values, and the old one again", _cases, _run
)


# Other values for the fields of a spec, from the schema of the CRD: bounds, empty, absent, long, odd.
# One field is changed at a time: a finding then names it. Values are such that the API server should
# take them; where it does not, the field's author has said so, and that is right.

LEFT_OUT = {"absent": True}
_LONG = 300
_OPEN = "x-kubernetes-preserve-unknown-fields"
_UNICODE = "grüße-✓"
_DEEPEST = 4
# Of numbers: a thousand pods, or a thousand seconds, would show nothing more and take their time.
_MOST_OF_ANYTHING = 10
_MOST_VALUES = 4
SpecPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldOfSpec:
    """One field with values to try; `LEFT_OUT` stands for none."""

    path: SpecPath
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        return ".".join(("spec", *self.path))


def fields_of(schema: Json, spec: Json) -> list[FieldOfSpec]:
    """Every field of the spec for which there is another value, those of the sample first.

    Where a schema is open, the fields that it does not declare are those that the sample shows.
    """
    found = list(_fields(schema, spec, ()))
    return sorted(found, key=lambda each: value_at(spec, each.path) is None)


def with_value(spec: Json, path: SpecPath, value: Any) -> Json:
    """A copy with one field changed, or without it."""
    changed = copy.deepcopy(spec)
    place = changed
    for step in path[:-1]:
        if not isinstance(place.get(step), dict):
            place[step] = {}
        place = place[step]
    if value == LEFT_OUT:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = value
    return changed


def value_at(spec: Json, path: SpecPath) -> Any:
    place: Any = spec
    for step in path:
        place = as_map(place).get(step)
    return place


def _fields(schema: Json, spec: Json, path: SpecPath) -> Iterator[FieldOfSpec]:
    required = schema.get("required") or []
    declared = as_map(schema.get("properties"))
    shown = as_map(value_at(spec, path)) if schema.get(_OPEN) else {}
    undeclared = {name: _seen_schema(shown[name]) for name in shown if name not in declared}
    for name, found in {**declared, **undeclared}.items():
        inner = as_map(found)
        below = (*path, name)
        now = value_at(spec, below)
        has_fields = inner.get("properties") or (inner.get(_OPEN) and isinstance(now, dict))
        if has_fields and inner.get("type", "object") == "object" and len(below) < _DEEPEST:
            yield from _fields(inner, spec, below)
            continue
        values = [each for each in _values(inner, now) if each != now and each is not None]
        if now is not None and name not in required:
            values.insert(min(1, len(values)), LEFT_OUT)
        if values:
            yield FieldOfSpec(below, tuple(values[:_MOST_VALUES]))


def _seen_schema(value: Any) -> Json:
    """What a value in a sample says of a field that its schema does not declare."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number", "minimum": min(value, 1)}
        case str():
            return {"type": "string", "format": "unknown"}
        case list():
            return {"type": "array", "minItems": 1}
        case dict():
            return {"type": "object", _OPEN: True}
        case _:
            return {}


def _values(schema: Json, now: Any) -> Iterator[Any]:
    """The most telling ones first."""
    if enum := schema.get("enum"):
        yield from (each for each in enum if each != now)
        return
    match schema.get("type"):
        case "boolean":
            yield not (now if isinstance(now, bool) else schema.get("default", False))
        case "integer" | "number":
            yield from _numbers(schema, now)
        case "string":
            yield from _texts(schema, now)
        case "array":
            yield from _lists(schema, now)
        case "object":
            if "additionalProperties" in schema:
                yield from _maps(schema, now)
        case _:
            if schema.get("x-kubernetes-int-or-string"):
                yield from (1, "1")


def _numbers(schema: Json, now: Any) -> Iterator[Any]:
    low, high = schema.get("minimum"), schema.get("maximum")
    known = (now, schema.get("default"), low, 1)
    base = next(each for each in known if isinstance(each, int | float))
    if high is None or base + 1 <= high:
        yield base + 1
    elif low is None or base - 1 >= low:
        yield base - 1
    if low is not None:
        yield low
    if high is not None and high <= _MOST_OF_ANYTHING:
        yield high
    if low is None:
        yield 0


def _texts(schema: Json, now: Any) -> Iterator[str]:
    base = str(now if now is not None else schema.get("default", "x"))
    if schema.get("pattern") or schema.get("format"):
        if base.isdigit():
            yield str(int(base) + 1)
        yield f"{base}1" if base else "a1"
        return
    yield f"{base}2" if len(base) < schema.get("maxLength", _LONG) else base[:-1]
    if not schema.get("minLength"):
        yield ""
    yield _UNICODE
    yield "x" * min(_LONG, schema.get("maxLength", _LONG))


def _lists(schema: Json, now: Any) -> Iterator[list[Any]]:
    items = as_map(schema.get("items"))
    if isinstance(now, list) and now:
        if len(now) > 1:
            yield now[:-1]
        if not schema.get("minItems"):
            yield []
        if isinstance(now[0], str) and not items.get("enum"):
            yield [*now, f"{now[0]}2"]
    elif items.get("type") == "string":
        yield [_first(items, "x")]
    elif items.get("type") == "integer":
        yield [1]


def _maps(schema: Json, now: Any) -> Iterator[Json]:
    inner = as_map(schema.get("additionalProperties"))
    if isinstance(now, dict) and now:
        yield {}
        first = next(iter(now))
        if isinstance(now[first], str):
            yield {**now, first: f"{now[first]}2"}
    elif inner.get("type") == "string":
        yield {"key": "value"}


def _first(schema: Json, otherwise: str) -> str:
    return str((schema.get("enum") or [schema.get("default", otherwise)])[0])
