"""Every key of watches.yaml arrives in its field of `Watch`, and in no other one.

A key without a row fails the test. The fields of a row are all that differs from the entry without the
key, so a key that is connected to nothing, or to the wrong field, fails too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rolecall.documents import YamlKey
from rolecall.gvk import Gvk
from rolecall.watches import (
    Finalizer,
    Play,
    Requirement,
    Selector,
)
from rolecall.watches.keys import (
    ENTRY_KEYS,
    FINALIZER_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
)
from tests.unit.watches.entries import Row, different, watch

_ROLE, _PLAYBOOK = Play(Path("roles/demo"), True), Play(Path("playbooks/demo.yml"), False)
_SECRET = {"version": "v1", "kind": "Secret"}
_LABELS = {"matchLabels": {"tier": "web"}}
_ROW = {"key": "zone", "operator": "NotIn", "values": ["a", "b"]}
_TYPED = Gvk("", "v1", "Secret")


# Keys that stand in the entry itself.
ROWS = {
    "group": Row("other.example.com", {"gvk": Gvk("other.example.com", "v1", "Demo")}),
    "version": Row("v2", {"gvk": Gvk("demo.example.com", "v2", "Demo")}),
    "kind": Row("Other", {"gvk": Gvk("demo.example.com", "v1", "Other")}),
    "playbook": Row("playbooks/demo.yml", {"play": _PLAYBOOK}),
    "role": Row("other", {"play": Play(Path("roles/other"), True)}),
    "vars": Row({"size": 3}, {"vars": {"size": 3}}),
    "reconcilePeriod": Row("7m", {"reconcile_period_s": 420.0}),
    "maxRunnerArtifacts": Row(7, {"max_runner_artifacts": 7}),
    "finalizer": Row({"name": "a/b", "role": "demo"}, {"finalizer": Finalizer("a/b", _ROLE)}),
    "selector": Row(_LABELS, {"selector": Selector({"tier": "web"})}),
    "manageStatus": Row(False, {"manage_status": False}),
    "watchDependentResources": Row(False, {"watch_dependent_resources": False}),
    "watchClusterScopedResources": Row(True, {"watch_cluster_scoped_resources": True}),
    "watchAnnotationsChanges": Row(True, {"watch_annotations_changes": True}),
    "snakeCaseParameters": Row(False, {"snake_case_parameters": False}),
    "markUnsafe": Row(True, {"mark_unsafe": True}),
    "blacklist": Row([_SECRET], {"blacklist": frozenset({_TYPED})}),
    "runner": Row("stock", {"runner": "stock"}),
    "runTimeout": Row("7m", {"run_timeout_s": 420.0}),
    "noProgressTimeout": Row("7m", {"no_progress_timeout_s": 420.0}),
    "dependentsDelay": Row("7s", {"dependents_delay_s": 7.0}),
    "cancelOnDelete": Row(True, {"cancel_on_delete": True}),
    "cancelOnChange": Row(True, {"cancel_on_change": True}),
    "specOverridesRole": Row(True, {"spec_overrides_role": True}),
    "readyCondition": Row(False, {"ready_condition": False}),
}
OF_FINALIZER = {
    "name": Row("c/d", {"name": "c/d"}),
    "playbook": Row("playbooks/demo.yml", {"play": _PLAYBOOK}),
    "role": Row("other", {"play": Play(Path("roles/other"), True)}),
    "vars": Row({"size": 3}, {"vars": {"size": 3}}),
}
OF_SELECTOR = {
    "matchLabels": Row({"tier": "web"}, {"match_labels": {"tier": "web"}}),
    "matchExpressions": Row(
        [_ROW], {"match_expressions": (Requirement("zone", "NotIn", ("a", "b")),)}
    ),
}
OF_REQUIREMENT = {
    "key": Row("other", {"key": "other"}),
    "operator": Row("In", {"operator": "In"}),
    "values": Row(["c"], {"values": ("c",)}),
}
_WITHOUT_EFFECT = {key.name for key in ENTRY_KEYS if key.instead[0]}


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (ENTRY_KEYS, {*ROWS} | _WITHOUT_EFFECT),
        (FINALIZER_KEYS, OF_FINALIZER),
        (SELECTOR_KEYS, OF_SELECTOR),
        (REQUIREMENT_KEYS, OF_REQUIREMENT),
    ],
)
def test_every_key_has_a_row(keys: tuple[YamlKey, ...], rows: set[str]) -> None:
    assert sorted(key.name for key in keys) == sorted(rows)


@pytest.mark.parametrize("name", ROWS)
def test_key_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    before, after = watch(project, {}), watch(project, {name: ROWS[name].value})
    assert different(before, after) == ROWS[name].changes


@pytest.mark.parametrize("name", OF_FINALIZER)
def test_key_of_a_finalizer_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    before, row = {"name": "a/b", "role": "demo"}, OF_FINALIZER[name]
    assert inside(project, "finalizer", before, name, row) == row.changes


@pytest.mark.parametrize("name", OF_SELECTOR)
def test_key_of_a_selector_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    row = OF_SELECTOR[name]
    assert inside(project, "selector", {}, name, row) == row.changes


@pytest.mark.parametrize("name", OF_REQUIREMENT)
def test_key_of_a_requirement_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    row = OF_REQUIREMENT[name]
    before, after = (
        watch(project, {"selector": {"matchExpressions": [item]}}).selector.match_expressions[0]
        for item in (_ROW, {**_ROW, name: row.value})
    )
    assert different(before, after) == row.changes


def inside(
    project: Path, key: str, before: Mapping[str, Any], name: str, row: Row
) -> dict[str, Any]:
    """What a key changes in the map of another key; the rest of the watch must stay."""
    old, new = (watch(project, {key: keys}) for keys in (before, {**before, name: row.value}))
    assert different(old, new).keys() == {key}
    return different(getattr(old, key), getattr(new, key))
