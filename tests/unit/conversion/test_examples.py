"""The examples of docs/reference/conversions.md, and the schema beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tools.conversions_page import EXAMPLES, converted

from rolecall.conversion import RULE_KEYS
from rolecall_dev.checks import conversions_schema

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def schema() -> Any:
    return jsonschema.Draft202012Validator(conversions_schema())


@pytest.mark.parametrize("rule", RULE_KEYS)
def test_each_rule_has_an_example_that_comes_back(rule: str) -> None:
    older, newer, back = converted(rule)
    assert newer["spec"] != older["spec"]
    assert (back == older) is (rule != "lose")


def test_schema_takes_what_the_loader_takes(schema: Any) -> None:
    steps = [
        {"older": "v1", "newer": "v2", "rules": [yaml.safe_load(rule)]}
        for _, rule, _ in EXAMPLES.values()
    ]
    assert list(schema.iter_errors([{"group": "g", "kind": "K", "steps": steps}])) == []
    own = yaml.safe_load((ROOT / "conversions.yaml").read_text())
    assert list(schema.iter_errors(own)) == []


@pytest.mark.parametrize(
    "rule",
    [{"rename": "spec.a"}, {"rename": "spec.a", "too": "spec.b"}, {"melt": "spec.a"}, {}],
)
def test_schema_refuses_a_rule_that_the_loader_refuses(schema: Any, rule: dict[str, str]) -> None:
    entry = {"group": "g", "kind": "K", "steps": [{"older": "a", "newer": "b", "rules": [rule]}]}
    assert list(schema.iter_errors([entry]))


def test_published_schema_is_that_of_the_code() -> None:
    file = ROOT / "docs" / "reference" / "conversions.schema.json"
    assert json.loads(file.read_text()) == conversions_schema()
