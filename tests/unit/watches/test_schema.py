from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rolecall.documents import compose_first, json_value
from rolecall.extending import watch_keys
from rolecall.watches.keys import ENTRY_KEYS, FINALIZER_KEYS, REQUIREMENT_KEYS, SELECTOR_KEYS
from rolecall_dev.checks import watches_schema
from tests.unit.watches.cases import Case, load, read_cases

REFERENCE = Path(__file__).parents[3] / "docs/reference"
CASES = [
    case for name in ("accepted", "refused") for case in read_cases(name) if not case.unreadable
]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(watches_schema())
    return jsonschema.Draft202012Validator(watches_schema())


def test_published_schema_is_up_to_date() -> None:
    published = json.loads((REFERENCE / "watches.schema.json").read_text())

    assert published == watches_schema(), (
        "write it anew: rolecall check --print-schema > docs/reference/watches.schema.json"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_schema_agrees_with_the_loader(
    case: Case, project: Path, validator: jsonschema.Draft202012Validator
) -> None:
    is_refused = bool(load(case, project).errors)
    expected = case.schema or ("rejects" if is_refused else "accepts")

    faults = [error.message for error in validator.iter_errors(data_of(case))]

    assert ("rejects" if faults else "accepts") == expected, faults


def test_what_loads_without_a_word_passes_the_schema(
    project: Path, validator: jsonschema.Draft202012Validator
) -> None:
    for case in CASES:
        loaded = load(case, project)
        if not (loaded.errors or loaded.warnings):
            assert validator.is_valid(data_of(case)), case.name


def data_of(case: Case) -> Any:
    node, _ = compose_first(case.file)
    return None if node is None else json_value(node)


@pytest.mark.parametrize("text", ["${COUNT}", "$COUNT"])
def test_schema_lets_the_environment_decide(
    text: str, validator: jsonschema.Draft202012Validator
) -> None:
    entry = {"version": "v1", "kind": "Demo", "role": "demo"}

    for name in ("maxRunnerArtifacts", "manageStatus", "reconcilePeriod", "runner"):
        assert validator.is_valid([entry | {name: text}]), name


def test_reference_page_has_a_row_for_every_key() -> None:
    rows = (REFERENCE / "watches.md").read_text().splitlines()

    outer = [key for each in watch_keys() for key in each.keys]
    of_extensions = [*outer, *(key for each in outer for key in each.inside)]
    own = (*ENTRY_KEYS, *FINALIZER_KEYS, *SELECTOR_KEYS, *REQUIREMENT_KEYS)
    for key in (*own, *of_extensions):
        default = f"`{key.default}`" if key.default else ""
        start = f"| `{key.name}` | {key.form.value} | {default}".rstrip()
        assert any(row.startswith(start) for row in rows), start
