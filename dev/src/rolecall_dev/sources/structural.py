"""Whether an example fits a CRD's schema, as a strict API server would judge it.

Knows what structural schemas may hold, except formats and validation rules: those only an API server
can evaluate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rolecall.json_object import Json

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


def misfits(value: Any, schema: Json, path: str) -> Iterator[str]:
    """Everything that does not fit."""
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str):
            yield f"{path} must be a number or a text"
        return
    wanted = schema.get("type")
    if wanted in _TYPES and not _is(value, wanted):
        yield f"{path} must be {'an' if wanted[0] in 'aio' else 'a'} {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} must be one of {', '.join(map(str, schema['enum']))}"
    yield from _limits(value, schema, path)
    if isinstance(value, dict):
        yield from _properties(value, schema, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misfits(item, schema.get("items") or {}, f"{path}[{index}]")


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _TYPES[wanted])


def _properties(value: Json, schema: Json, path: str) -> Iterator[str]:
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for name in schema.get("required") or []:
        if name not in value:
            yield f"{path}.{name} is missing"
    for name, part in value.items():
        if name in properties:
            yield from misfits(part, properties[name], f"{path}.{name}")
        elif isinstance(others, dict):
            yield from misfits(part, others, f"{path}.{name}")
        elif not (others or schema.get(_PRESERVE) or schema.get("x-kubernetes-embedded-resource")):
            yield f"{path}.{name} is not in the schema"


def _limits(value: Any, schema: Json, path: str) -> Iterator[str]:
    sizes = (("Length", str), ("Items", list), ("Properties", dict))
    for word, kind in sizes:
        if isinstance(value, kind):
            if len(value) < schema.get(f"min{word}", 0):
                yield f"{path} is shorter than {schema[f'min{word}']}"
            if len(value) > schema.get(f"max{word}", len(value)):
                yield f"{path} is longer than {schema[f'max{word}']}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            yield f"{path} is less than {schema['minimum']}"
        if value > schema.get("maximum", value):
            yield f"{path} is more than {schema['maximum']}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path} does not match `{schema['pattern']}`"
