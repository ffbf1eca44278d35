"""The modules that we bring along: `ansible-doc` shows every argument as they take it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rolecall.json_object import Json

ROOT = Path(__file__).parents[2]
COLLECTIONS = ROOT / "src" / "rolecall" / "collections"
NAMESPACE = "operator_sdk.util"
MODULES = ("k8s_event", "k8s_status", "osdk_metric", "requeue_after")
# What both sides say about an argument; `no_log` has no place in a document.
SAID_BY_BOTH = ("type", "elements", "required", "default", "choices", "aliases")


@pytest.fixture(scope="module")
def documents() -> Json:
    """As `ansible-doc` understands them."""
    names = [f"{NAMESPACE}.{module}" for module in MODULES]
    result = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-doc"), "--json", "--type", "module", *names],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: Json = json.loads(result.stdout)
    return found


class SpecTakenError(Exception):
    """Instead of running the module."""


def taken(module: str, monkeypatch: pytest.MonkeyPatch) -> Json:
    """What the module takes, from its call of AnsibleModule."""
    monkeypatch.syspath_prepend(str(COLLECTIONS))
    loaded = importlib.import_module(f"ansible_collections.{NAMESPACE}.plugins.modules.{module}")
    seen: list[Json] = []

    def record(argument_spec: Json, **_: object) -> None:
        seen.append(argument_spec)
        raise SpecTakenError

    monkeypatch.setattr(loaded, "AnsibleModule", record)
    with pytest.raises(SpecTakenError):
        loaded.main()
    return seen[0]


def compared(options: Json, inner: str) -> Json:
    """The same facts in the same shape, whichever side documents them."""
    found = {}
    for name, option in options.items():
        facts = {key: option[key] for key in SAID_BY_BOTH if option.get(key)}
        facts.setdefault("type", "str")
        for key in ("choices", "aliases"):
            if key in facts:
                facts[key] = sorted(facts[key])
        found[name] = {**facts, "options": compared(option.get(inner) or {}, inner)}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_arguments_are_documented_as_they_are_taken(
    module: str, documents: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = documents[f"{NAMESPACE}.{module}"]["doc"]
    expected = compared(taken(module, monkeypatch), "options")
    found = compared(document["options"], "suboptions")
    for name, option in expected.items():
        if not option["options"]:  # then the document may say more about what a dict holds
            found[name]["options"] = {}
    assert found == expected


@pytest.mark.parametrize("module", MODULES)
def test_examples_use_the_module_by_its_full_name(module: str, documents: Json) -> None:
    tasks = yaml.safe_load(documents[f"{NAMESPACE}.{module}"]["examples"])
    assert tasks
    assert all(f"{NAMESPACE}.{module}" in task for task in tasks)


@pytest.mark.parametrize("module", MODULES)
def test_document_says_what_comes_back_and_what_check_mode_does(
    module: str, documents: Json
) -> None:
    found = documents[f"{NAMESPACE}.{module}"]
    assert found["return"]
    assert "check_mode" in found["doc"]["attributes"]
