"""Whether an example fits a CRD's schema, as a strict API server would judge it.

Knows what structural schemas may hold, except formats and validation rules: those only an API server
can evaluate.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json, as_map

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_PARTIAL = "partial"  # ours, no key of schemas
_OPEN = {_PRESERVE: True, _PARTIAL: True}


Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """One part of a value that does not fit, and why."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{written(self.path)} {self.why}"


def written(path: Path) -> str:
    """`spec.ports[0].name`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def misfits(value: Any, schema: Json, path: Path = ()) -> Iterator[Misfit]:
    """Everything that does not fit."""
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str):
            yield Misfit(path, "must be a number or a text")
        return
    wanted = schema.get("type")
    if wanted in _TYPES and not _is(value, wanted):
        is_ = "is nothing" if value is None else f"is {_shown(value)}"
        yield Misfit(path, f"{is_}, and must be {'an' if wanted[0] in 'aio' else 'a'} {wanted}")
        return
    yield from (Misfit(path, why) for why in (*_choice(value, schema), *_limits(value, schema)))
    if isinstance(value, dict):
        yield from _properties(value, schema, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misfits(item, _below(schema.get("items") or {}, schema), (*path, index))
    yield from _junctors(value, schema, path)


def _choice(value: Any, schema: Json) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        near = difflib.get_close_matches(str(value), map(str, schema["enum"]), n=1)
        meant = f"; did you mean `{near[0]}`?" if near else ""
        allowed = ", ".join(map(str, schema["enum"]))
        yield f"is {_shown(value)}, and must be one of {allowed}{meant}"


def _shown(value: Any) -> str:
    kinds: dict[type, str] = {dict: "a map", list: "a list"}
    return kinds.get(type(value)) or f"`{json.dumps(value, default=str)}`"


def _junctors(value: Any, schema: Json, path: Path) -> Iterator[Misfit]:
    """What is said beside the structure; it never names fields of its own."""

    def fits(part: Any) -> bool:
        return not list(misfits(value, {**_OPEN, **part}, path))

    for part in schema.get("allOf") or []:
        yield from misfits(value, {**_OPEN, **part}, path)
    if (any_of := schema.get("anyOf")) and not any(map(fits, any_of)):
        yield Misfit(path, "fits nothing of `anyOf`")
    if (one_of := schema.get("oneOf")) and sum(map(fits, one_of)) != 1:
        yield Misfit(path, "must fit exactly one of `oneOf`")
    if "not" in schema and fits(schema["not"]):
        yield Misfit(path, "fits what `not` forbids")


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _TYPES[wanted])


def _properties(value: Json, schema: Json, path: Path) -> Iterator[Misfit]:
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    is_open = any((others, schema.get(_PRESERVE), schema.get("x-kubernetes-embedded-resource")))
    for name in schema.get("required") or []:
        # The API server sets defaults before it validates.
        if name not in value and "default" not in (properties.get(name) or {}):
            yield Misfit((*path, name), "is missing")
    for name, part in value.items():
        if name in properties:
            own = properties[name] or {}
        elif is_open and not isinstance(others, dict):
            continue
        elif isinstance(others, dict):
            own = others
        else:
            near = difflib.get_close_matches(str(name), properties, n=1)
            meant = f"; did you mean `{near[0]}`?" if near else ""
            yield Misfit((*path, name), f"is not in the schema{meant}")
            continue
        yield from misfits(part, _below(own, schema), (*path, name))


def _below(own: Json, schema: Json) -> Json:
    """In a part of `anyOf` and its like, what is not said is not forbidden."""
    return {**_OPEN, **own} if schema.get(_PARTIAL) else own


def _limits(value: Any, schema: Json) -> Iterator[str]:
    sizes = (("Length", str), ("Items", list), ("Properties", dict))
    for word, kind in sizes:
        if isinstance(value, kind):
            if len(value) < schema.get(f"min{word}", 0):
                yield f"is shorter than {schema[f'min{word}']}"
            if len(value) > schema.get(f"max{word}", len(value)):
                yield f"is longer than {schema[f'max{word}']}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounds(value, schema)
    if isinstance(value, str) and "pattern" in schema and not _matches(value, schema["pattern"]):
        yield f"is {_shown(value)}, which does not match `{schema['pattern']}`"


def _bounds(value: float, schema: Json) -> Iterator[str]:
    lowest, highest = schema.get("minimum", value), schema.get("maximum", value)
    if value < lowest or (value == lowest and schema.get("exclusiveMinimum")):
        yield f"is {value}, which is less than {lowest}"
    if value > highest or (value == highest and schema.get("exclusiveMaximum")):
        yield f"is {value}, which is more than {highest}"


def _matches(text: str, pattern: str) -> bool:
    """Go's patterns know a little that Python's do not; those are left to the API server."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def with_object_fields(schema: Json) -> Json:
    """A schema with what every object may have, whatever it says."""
    every = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    return {**schema, "properties": {**as_map(schema.get("properties")), **every}}
