"""Other values for fields of a spec: such as the schema allows, and not the one that is there."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall_dev.proving.checks.edits import LEFT_OUT, fields_of, with_value


def values_of(schema: dict[str, Any], now: Any = None) -> tuple[Any, ...]:
    spec = {} if now is None else {"field": now}
    (field,) = fields_of({"properties": {"field": schema}}, spec)
    return field.values


@pytest.mark.parametrize(
    ("schema", "now", "wanted"),
    [
        ({"type": "boolean"}, True, False),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 5, 4),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 2, 5),
        ({"type": "string", "enum": ["a", "b"]}, "a", "b"),
        ({"type": "string"}, "x", ""),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], ["a"]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": "b"}, {}),
        ({"type": "string"}, "x", LEFT_OUT),
    ],
)
def test_value_is_tried(schema: dict[str, Any], now: Any, wanted: Any) -> None:
    assert wanted in values_of(schema, now)


def test_no_value_is_the_one_that_is_there() -> None:
    assert "x" not in values_of({"type": "string"}, "x")


def test_large_bounds_are_left_out_since_they_only_cost_time() -> None:
    assert 1000 not in values_of({"type": "integer", "maximum": 1000}, 3)


def test_required_field_is_never_absent() -> None:
    schema = {"required": ["field"], "properties": {"field": {"type": "integer"}}}
    (field,) = fields_of(schema, {"field": 3})
    assert LEFT_OUT not in field.values


def test_fields_below_are_found_and_those_of_the_sample_come_first() -> None:
    inner = {"type": "object", "properties": {"tag": {"type": "string"}}}
    schema = {"properties": {"port": {"type": "integer"}, "image": inner}}
    found = fields_of(schema, {"image": {"tag": "1"}})
    assert [field.name for field in found] == ["spec.image.tag", "spec.port"]


def test_value_is_set_in_a_copy() -> None:
    spec = {"image": {"tag": "1"}}
    assert with_value(spec, ("image", "tag"), "2") == {"image": {"tag": "2"}}
    assert with_value(spec, ("image", "tag"), LEFT_OUT) == {"image": {}}
    assert with_value(spec, ("new", "one"), 1) == {"image": {"tag": "1"}, "new": {"one": 1}}
    assert spec == {"image": {"tag": "1"}}
