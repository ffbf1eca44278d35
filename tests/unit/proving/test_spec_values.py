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


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("schema", "spec"),
    [
        (OPEN, {"flavour": "plain"}),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"flavour": "plain"}),
        ({**OPEN, "properties": {"size": {"type": "integer"}}}, {"size": 1, "flavour": "plain"}),
        ({"properties": {"web": OPEN}}, {"web": {"flavour": "plain"}}),
        (OPEN, {"web": {"deep": {"flavour": "plain"}}}),
        ({"properties": {"web": {**OPEN, "properties": {"a": {}}}}}, {"web": {"flavour": "plain"}}),
    ],
)
def test_field_that_a_sample_shows_and_an_open_schema_does_not_declare_is_edited(
    schema: dict[str, Any], spec: dict[str, Any]
) -> None:
    (field,) = [each for each in fields_of(schema, spec) if each.path[-1] == "flavour"]
    assert field.values == ("plain1", LEFT_OUT)


@pytest.mark.parametrize(
    ("now", "wanted"),
    [(True, False), (3, 4), (0, 1), ("7", "8"), (["a", "b"], ["a"]), ([{}, {}], [{}])],
)
def test_value_of_such_a_field_has_the_type_of_the_samples(now: Any, wanted: Any) -> None:
    (field,) = fields_of(OPEN, {"field": now})
    assert field.values[0] == wanted
    assert all(isinstance(each, type(now)) for each in field.values if each != LEFT_OUT)
    assert LEFT_OUT in field.values


def test_schema_that_is_closed_has_no_fields_but_its_own() -> None:
    closed = {"type": "object", "properties": {"size": {"type": "integer"}}}
    assert [field.name for field in fields_of(closed, {"flavour": "x"})] == ["spec.size"]


def test_value_is_set_in_a_copy() -> None:
    spec = {"image": {"tag": "1"}}
    assert with_value(spec, ("image", "tag"), "2") == {"image": {"tag": "2"}}
    assert with_value(spec, ("image", "tag"), LEFT_OUT) == {"image": {}}
    assert with_value(spec, ("new", "one"), 1) == {"image": {"tag": "1"}, "new": {"one": 1}}
    assert spec == {"image": {"tag": "1"}}
