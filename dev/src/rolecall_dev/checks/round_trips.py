"""Random objects of each version, to every other version and back: they must be what they were."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rolecall.conversion import Conversion, ConversionError
from rolecall.json_object import Json
from rolecall_dev.checks.random_objects import random_object


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
