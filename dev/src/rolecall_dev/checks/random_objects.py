"""Objects out of a CRD's schema, by chance: what a property test needs.

As odd as the schema allows, since odd ones are what conversions get wrong: absent fields, empty maps
and lists, null where it may be, texts with separators in them. Patterns are not followed but where
an example or default shows one that fits: rules must carry any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from rolecall.json_object import Json
from rolecall_dev.checks.crds import PRESERVE
from rolecall_dev.sources import as_map

_TEXTS: Sequence[str] = (
    "",
    "a",
    "web",
    "registry.example.com:5000/team/app:1.2.3",
    "app@sha256:0a1b",
    "a:b:c",
    "{x}",
    "x=y=z",
    "two\nlines",
    "ä ö ü",
    " ",
    "/",
    ":",
)
_DEEPEST = 6


def random_object(schema: Json, random: Random) -> Json:
    """The fields of one object; who asks adds what identifies it."""
    made: Json = {}
    for name, inner in as_map(schema.get("properties")).items():
        if name not in ("apiVersion", "kind", "metadata") and random.random() < 0.9:
            made[name] = _value(as_map(inner), random, 1)
    return made


def _value(schema: Json, random: Random, depth: int) -> Any:
    if schema.get("nullable") and random.random() < 0.2:
        return None
    if "enum" in schema:
        return random.choice(schema["enum"])
    for known in ("example", "default"):
        if known in schema and random.random() < 0.3:
            return schema[known]
    if schema.get("x-kubernetes-int-or-string"):
        return random.choice([random.randint(0, 9), "10%"])
    make = _MAKERS.get(str(schema.get("type", "")))
    return make(schema, random, depth) if make else _anything(schema, random, depth)


def _map(schema: Json, random: Random, depth: int) -> Json:
    required = schema.get("required") or ()
    made = {
        name: _value(as_map(inner), random, depth + 1)
        for name, inner in as_map(schema.get("properties")).items()
        if name in required or random.random() < (0.7 if depth < _DEEPEST else 0)
    }
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        names = random.sample(("a", "b", "app.kubernetes.io/name", "C_D"), random.randint(0, 3))
        made |= {name: _value(more, random, depth + 1) for name in names}
    if schema.get(PRESERVE) and random.random() < 0.5:
        made["anything"] = {"deep": [1, None, {}]}
    return made


def _list(schema: Json, random: Random, depth: int) -> list[Any]:
    most = min(3, int(schema.get("maxItems", 3)))
    count = random.randint(min(most, int(schema.get("minItems", 0))), most)
    return [_value(as_map(schema.get("items")), random, depth + 1) for _ in range(count)]


def _text(_: Json, random: Random, __: int) -> str:
    return random.choice(_TEXTS)


def _whole(schema: Json, random: Random, _: int) -> int:
    least = int(schema.get("minimum", -3))
    return random.randint(least, max(least, min(least + 100, int(schema.get("maximum", 100)))))


def _number(schema: Json, random: Random, depth: int) -> float:
    return _whole(schema, random, depth) + random.choice([0.0, 0.5])


def _truth(_: Json, random: Random, __: int) -> bool:
    return random.random() < 0.5


def _anything(schema: Json, random: Random, depth: int) -> Any:
    if "properties" in schema or "additionalProperties" in schema:
        return _map(schema, random, depth)
    return random.choice([{}, {"x": 1}, [1], "text", 7])


_MAKERS = {
    "object": _map,
    "array": _list,
    "string": _text,
    "integer": _whole,
    "number": _number,
    "boolean": _truth,
}
