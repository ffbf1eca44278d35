"""Every key of watches.yaml arrives in its field of `Watch`, and in no other one.

A key without a row fails the test. The fields of a row are all that differs from the entry without the
key, so a key that is connected to nothing, or to the wrong field, fails too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.documents import YamlKey
from rolecall.gvk import Gvk
from rolecall.watches import (
    AdmissionRule,
    Finalizer,
    Play,
    Prune,
    Requirement,
    Selector,
    Watch,
    WatchDefaults,
    load_watches,
)
from rolecall.watches.keys import (
    CEL_RULE_KEYS,
    CONDITION_KEYS,
    ENTRY_KEYS,
    FINALIZER_KEYS,
    MUTATE_KEYS,
    PRUNE_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
    VALIDATE_KEYS,
)

_ENTRY = {"group": "demo.example.com", "version": "v1", "kind": "Demo", "role": "demo"}
_ROLE, _PLAYBOOK = Play(Path("roles/demo"), True), Play(Path("playbooks/demo.yml"), False)
_SECRET = {"version": "v1", "kind": "Secret"}
_LABELS = {"matchLabels": {"tier": "web"}}
_ROW = {"key": "zone", "operator": "NotIn", "values": ["a", "b"]}
_TYPED = Gvk("", "v1", "Secret")


@dataclass(frozen=True)
class Row:
    """A value other than the default, and each field of the watch that it changes."""

    value: Any
    changes: Mapping[str, Any]


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
    "prune": Row(True, {"prune": Prune()}),
    "watchReads": Row([_SECRET], {"watch_reads": frozenset({_TYPED})}),
    "skipUnchanged": Row(True, {"skip_unchanged": True}),
    "maxSkip": Row("7m", {"max_skip_s": 420.0}),
    "mode": Row("observe", {"is_observed": True}),
}
# `validate` and `mutate` themselves: the same keys inside.
OF_ADMISSION = {
    "playbook": Row("playbooks/demo.yml", {"play": _PLAYBOOK}),
    "role": Row("other", {"play": Play(Path("roles/other"), True)}),
    "operations": Row(["UPDATE"], {"operations": ("UPDATE",)}),
    "subresources": Row(["scale"], {"subresources": ("scale",)}),
    "failurePolicy": Row("Ignore", {"failure_policy": "Ignore"}),
    "timeout": Row("7s", {"timeout_s": 7}),
    "matchConditions": Row(
        [{"name": "always", "expression": "request.dryRun"}],
        {"match_conditions": ({"name": "always", "expression": "request.dryRun"},)},
    ),
    "namespaceSelector": Row(_LABELS, {"namespace_selector": _LABELS}),
    "objectSelector": Row(_LABELS, {"object_selector": _LABELS}),
}
RULES = Row(
    [{"rule": "self.size < 9", "message": "too large"}],
    {"rules": (AdmissionRule("self.size < 9", "too large", 1, is_of_schema=True),)},
)
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
OF_PRUNE = {
    "kinds": Row([_SECRET], {"kinds": frozenset({_TYPED})}),
    "foreground": Row(True, {"is_foreground": True}),
    "evenIfListed": Row(True, {"even_if_listed": True}),
    "report": Row(True, {"is_report": True}),
    "goodRuns": Row(3, {"good_runs": 3}),
    "limitPercent": Row(50, {"limit_percent": 50}),
    "fleetLimit": Row(7, {"fleet_limit": 7}),
    "tasks": Row(["install"], {"tasks": frozenset({"install"})}),
}
_WITHOUT_EFFECT = {key.name for key in ENTRY_KEYS if key.instead[0]}


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (ENTRY_KEYS, {*ROWS, "validate", "mutate"} | _WITHOUT_EFFECT),
        (MUTATE_KEYS, OF_ADMISSION),
        (VALIDATE_KEYS, {*OF_ADMISSION, "rules"}),
        (FINALIZER_KEYS, OF_FINALIZER),
        (SELECTOR_KEYS, OF_SELECTOR),
        (REQUIREMENT_KEYS, OF_REQUIREMENT),
        (PRUNE_KEYS, OF_PRUNE),
        (CONDITION_KEYS, {"name", "expression"}),  # by the row of matchConditions
        (CEL_RULE_KEYS, {"rule", "message"}),  # by the row of rules
    ],
)
def test_every_key_has_a_row(keys: tuple[YamlKey, ...], rows: set[str]) -> None:
    assert sorted(key.name for key in keys) == sorted(rows)


@pytest.mark.parametrize("name", ROWS)
def test_key_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    before, after = watch(project, {}), watch(project, {name: ROWS[name].value})
    assert different(before, after) == ROWS[name].changes


@pytest.mark.parametrize("asked", ["validate", "mutate"])
@pytest.mark.parametrize("name", OF_ADMISSION)
def test_key_of_admission_changes_its_fields_and_no_other(
    asked: str, name: str, project: Path
) -> None:
    assert inside(project, asked, {"role": "demo"}, name, OF_ADMISSION[name]) == (
        OF_ADMISSION[name].changes
    )


def test_rules_of_validate_are_read_whole(project: Path) -> None:
    assert inside(project, "validate", {"role": "demo"}, "rules", RULES) == RULES.changes


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


@pytest.mark.parametrize("name", OF_PRUNE)
def test_key_of_prune_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    assert inside(project, "prune", {}, name, OF_PRUNE[name]) == OF_PRUNE[name].changes


def inside(
    project: Path, key: str, before: Mapping[str, Any], name: str, row: Row
) -> dict[str, Any]:
    """What a key changes in the map of another key; the rest of the watch must stay."""
    old, new = (watch(project, {key: keys}) for keys in (before, {**before, name: row.value}))
    assert different(old, new).keys() == {key}
    return different(getattr(old, key), getattr(new, key))


def watch(project: Path, keys: Mapping[str, Any]) -> Watch:
    """What an entry with these keys gives."""
    (project / "roles/other/tasks").mkdir(parents=True, exist_ok=True)
    (project / "roles/other/tasks/main.yml").write_text("[]\n")
    # On one line, so that lines differ nowhere.
    text = yaml.safe_dump([{**_ENTRY, **keys}], default_flow_style=True, width=10_000)
    (project / "watches.yaml").write_text(text)
    ((found,), _) = load_watches(Path("watches.yaml"), {}, WatchDefaults(), project)
    return found


def different(before: object, after: object) -> dict[str, Any]:
    """Each field that differs, with its new value; paths of plays begin in the project."""
    return {
        field.name: in_project(getattr(after, field.name))
        for field in fields(after)  # type: ignore[arg-type]
        if getattr(before, field.name) != getattr(after, field.name)
    }


def in_project(value: Any) -> Any:
    if isinstance(value, Play):
        return replace(value, path=Path(*value.path.parts[-2:]))
    if isinstance(value, Finalizer):
        return replace(value, play=in_project(value.play))
    return value
