"""docs/reference/control.md shows what an engine really answers."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.extensions.console.control.engine import Known as KnownCr
from tests.unit.extensions.console.control.engine import World, asked, key
from tests.unit.house.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "control.md"


def shape(value: Any) -> Any:
    """The fields of a document, without what they say."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else "a value"


def examples() -> list[Any]:
    parts = PAGE.read_text().split("```json\n")[1:]
    return [json.loads(part.partition("```")[0]) for part in parts]


async def test_the_example_has_the_fields_of_the_answer(world: World) -> None:
    example = examples()[0]
    world.known[key("blog")] = KnownCr()
    world.keep("blog", outcome="failed")

    async with world.served() as path:
        _, answer = await asked(path, "GET", "/v1/state")

    assert shape(example) == shape(answer)


async def test_the_example_of_shards_has_the_fields_of_the_answer(world: World) -> None:
    world.divide([0, 2, 3], [], unheld={1: 10.0})
    async with world.served() as path:
        _, answer = await asked(path, "GET", "/v1/shards")

    del answer["shards"]["members"][1]
    assert shape(answer) == shape(examples()[1])
