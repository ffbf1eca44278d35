"""A copy of plain data is what Ansible makes of it; anything else is Ansible's."""

from __future__ import annotations

import datetime
import importlib
from typing import Any

import pytest

from rolecall_warm.hooks import plain_data
from rolecall_warm.hooks.digests import version_of_core
from rolecall_warm.hooks.sources import family_of

PLAIN = {
    "text": "{{ not_a_template }}",
    "numbers": [0, -1, 1.5, True, False, None],
    "empty": [{}, [], ""],
    "deep": {"a": {"b": [{"c": [[{"d": 1}]]}]}},
}


class Name(str):
    """A text that is more than one."""


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def made(value: Any) -> tuple[Any, list[Any]]:
    """What becomes of it, and what Ansible was asked."""
    asked: list[Any] = []

    def original(_engine: Any, value: Any) -> Any:
        asked.append(value)
        return value

    return plain_data.transform(original, None, value), asked


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return dict, [(type(key), shape_of(part)) for key, part in value.items()]
    if isinstance(value, list):
        return list, [shape_of(part) for part in value]
    return type(value)


def test_plain_data_are_copied_with_no_container_shared() -> None:
    copy, asked = made(PLAIN)
    assert (copy, asked) == (PLAIN, [])
    copy["deep"]["a"]["b"][0]["c"].append("changed")
    copy["empty"][0]["changed"] = True
    assert PLAIN["deep"] == {"a": {"b": [{"c": [[{"d": 1}]]}]}}
    assert PLAIN["empty"] == [{}, [], ""]


@pytest.mark.parametrize(
    "value",
    [
        (1,),
        {1: "a"},
        {Name("a"): 1},
        {"a": [Name("b")]},
        [datetime.date(2020, 1, 1)],
        [b"a"],
        {"a": {1}},
        [object()],
        _deep(60),
    ],
)
def test_anything_else_is_ansibles_from_its_top(value: Any) -> None:
    copy, asked = made(value)
    assert copy is value
    assert len(asked) == 1 and asked[0] is value


if family_of(version_of_core()) != "2.18":  # which made no such copies, so that nothing stands in

    def test_copy_is_what_this_ansible_makes() -> None:
        engine = importlib.import_module("ansible._internal._templating._engine")
        variables = importlib.import_module("ansible.utils.vars")
        copy, _asked = made(PLAIN)
        for theirs in (
            engine.TemplateEngine().transform(PLAIN),
            variables.transform_to_native_types(PLAIN),
        ):
            assert theirs == copy
            assert shape_of(theirs) == shape_of(copy)

    def test_tagged_text_is_ansibles() -> None:
        tags = importlib.import_module("ansible._internal._datatag._tags")
        tagged = tags.Origin(description="here").tag("a")
        _copy, asked = made({"a": [tagged]})
        assert len(asked) == 1


def test_sensitive_values_are_redacted_as_asked() -> None:
    given: list[Any] = []

    def original(value: Any, redact: bool = True) -> Any:
        given.append((value, redact))
        return "ansible's"

    assert plain_data.to_native_types(original, [Name("a")], redact=False) == "ansible's"
    assert given == [([Name("a")], False)]
    assert plain_data.to_native_types(original, ["a"]) == ["a"]
