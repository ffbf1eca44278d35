"""Random objects of each version, to every other version and back: they must be what they were."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rolecall.conversion import Conversion, ConversionError
from rolecall.json_object import Json
from rolecall_dev.checks.crds import PRESERVE
from rolecall_dev.sources import as_map


@dataclass(frozen=True, slots=True)
class Difference:
    """One object that did not come back."""

    version: str
    over: str
    path: str
    was: str
    became: str

    def __str__(self) -> str:
        return (
            f"`{self.path}` of an object at `{self.version}` was {self.was}, and came back from "
            f"`{self.over}` as {self.became}"
        )


def round_trips(
    conversion: Conversion, schemas: dict[str, Json], count: int, seed: int
) -> Iterator[Difference]:
    """What is different after the way there and back, for `count` objects of each version."""
    random = Random(seed)  # noqa: S311  # the same objects each time, so that a finding stays one
    for version in conversion.versions:
        for _ in range(count):
            made = {
                "apiVersion": f"{conversion.group}/{version}",
                "kind": conversion.kind,
                "metadata": {"name": "x"},
                **random_object(schemas[version], random),
            }
            for over in conversion.versions:
                yield from _there_and_back(conversion, made, version, over)


def _there_and_back(
    conversion: Conversion, made: Json, version: str, over: str
) -> Iterator[Difference]:
    try:
        back = conversion.convert(conversion.convert(made, over), version)
    except ConversionError as error:
        yield Difference(version, over, "spec", "convertible", f"refused: {error}")
        return
    lost = conversion.lossy_fields(version, over)
    for path, was, became in _differences(made, back, ()):
        if not any(path[: len(field)] == field for field in lost):
            yield Difference(version, over, ".".join(path), _shown(was), _shown(became))
            return


def _differences(was: Any, became: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(was, dict) and isinstance(became, dict):
        for name in sorted({*was, *became}):
            yield from _differences(was.get(name, ...), became.get(name, ...), (*path, name))
    elif was != became or type(was) is not type(became):
        yield path, was, became


def _shown(value: Any) -> str:
    return "absent" if value is ... else f"`{json.dumps(value)[:80]}`"


def shortest(found: Sequence[Difference]) -> Difference:
    """The one that is easiest to understand."""
    return min(found, key=lambda each: len(each.was) + len(each.became))


# Objects out of a CRD's schema, by chance: what a property test needs.
# As odd as the schema allows, since odd ones are what conversions get wrong: absent fields, empty
# maps and lists, null where it may be, texts with separators in them. Patterns are not followed but
# where an example or default shows one that fits: rules must carry any text.

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
