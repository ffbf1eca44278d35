"""Other values for the fields of a spec, from the schema of the CRD: bounds, empty, absent, long, odd.

One field is changed at a time: a finding then names it. Values are such that the API server should take
them; where it does not, the field's author has said so, and that is right.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json, as_map

LEFT_OUT = {"absent": True}
_LONG = 300
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
    """Every field of the spec for which there is another value, those of the sample first."""
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
    for name, found in as_map(schema.get("properties")).items():
        inner = as_map(found)
        below = (*path, name)
        now = value_at(spec, below)
        if inner.get("type") == "object" and inner.get("properties") and len(below) < _DEEPEST:
            yield from _fields(inner, spec, below)
            continue
        values = [each for each in _values(inner, now) if each != now and each is not None]
        if now is not None and name not in required:
            values.insert(min(1, len(values)), LEFT_OUT)
        if values:
            yield FieldOfSpec(below, tuple(values[:_MOST_VALUES]))


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
