"""Every key of watches.yaml that an extension has arrives in its field, and in no other one.

As `test_every_key.py` has it for the keys of the core.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.errors import InputError, Problem, ProblemsError
from rolecall.extending import Extension, found, watch_keys
from rolecall.extensions.handlers.keys import HandlersKeys
from rolecall.extensions.plan import PlanKeys
from rolecall.extensions.prune import Prune
from rolecall.extensions.reads import WatchReads
from rolecall.extensions.skip import SkipUnchanged
from rolecall.gvk import Gvk
from rolecall.watches import ExtensionKeys, Play, Watch, WatchDefaults, load_watches
from rolecall.webhooks import AdmissionRule
from rolecall.webhooks.keys import CEL_RULE_KEYS, CONDITION_KEYS
from tests.unit.watches.entries import Row, different, watch

_LABELS = {"matchLabels": {"tier": "web"}}
_SECRET, _TYPED = {"version": "v1", "kind": "Secret"}, Gvk("", "v1", "Secret")
ROWS: dict[str, tuple[Any, ExtensionKeys]] = {
    "mode": ("observe", PlanKeys()),
    "prune": (True, Prune()),
    "watchReads": ([_SECRET], WatchReads(frozenset({_TYPED}))),
    "skipUnchanged": (True, SkipUnchanged()),
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


# `validate` and `mutate` themselves: the same keys inside.
OF_ADMISSION = {
    "playbook": Row("playbooks/demo.yml", {"play": Play(Path("playbooks/demo.yml"), False)}),
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


def test_every_key_of_an_extension_has_a_row() -> None:
    keys = [key for each in watch_keys() for key in each.keys]
    of_others = {"maxSkip", "validate", "mutate", "handlers", "parallel"}
    assert sorted(key.name for key in keys) == sorted({*ROWS, *of_others})
    inside = [key.name for each in keys for key in each.inside]
    assert sorted(inside) == sorted([*OF_PRUNE, *OF_ADMISSION, *OF_ADMISSION, "rules"])
    assert [key.name for key in CONDITION_KEYS] == ["name", "expression"]
    assert [key.name for key in CEL_RULE_KEYS] == ["rule", "message"]


@pytest.mark.parametrize("name", ROWS)
def test_key_is_for_its_extension_alone(name: str, project: Path) -> None:
    value, wanted = ROWS[name]
    before, after = read(project), read(project, **{name: value})
    assert different(before, after) == {"of_extensions": (wanted,)}
    assert after.extension(type(wanted)) == wanted
    assert before.extension(type(wanted)) is None


def test_longest_skip_is_read_beside_the_key_that_skips(project: Path) -> None:
    asked = read(project, skipUnchanged=True, maxSkip="7m").of_extensions
    assert asked == (SkipUnchanged(420.0),)
    assert read(project, maxSkip="7m").of_extensions == ()


def test_files_of_handlers_are_read_beside_a_role_and_whether_they_wait(project: Path) -> None:
    (project / "site.py").write_text("")
    asked = read(project, handlers="site.py").extension(HandlersKeys)
    assert asked == HandlersKeys((project / "site.py",))
    asked = read(project, handlers=["site.py"], parallel=True).extension(HandlersKeys)
    assert asked == HandlersKeys((project / "site.py",), is_parallel=True)
    assert read(project, parallel=True).of_extensions == ()


@pytest.mark.parametrize("name", OF_PRUNE)
def test_key_of_prune_changes_its_fields_and_no_other(name: str, project: Path) -> None:
    row = OF_PRUNE[name]
    (asked,) = read(project, prune={name: row.value}).of_extensions
    assert different(Prune(), asked) == row.changes


@pytest.mark.parametrize("asked", ["validate", "mutate"])
@pytest.mark.parametrize("name", OF_ADMISSION)
def test_key_of_admission_changes_its_fields_and_no_other(
    asked: str, name: str, project: Path
) -> None:
    row = OF_ADMISSION[name]
    assert changed_of(project, asked, name, row) == row.changes


def test_rules_of_validate_are_read_whole(project: Path) -> None:
    assert changed_of(project, "validate", "rules", RULES) == RULES.changes


def changed_of(project: Path, asked: str, name: str, row: Row) -> dict[str, Any]:
    """What a key changes in `validate` or `mutate`; the other one must stay."""
    (old,), (new,) = (
        read(project, **{asked: {"role": "demo", **more}}).of_extensions
        for more in ({}, {name: row.value})
    )
    assert different(old, new).keys() == {asked}
    return different(getattr(old, asked), getattr(new, asked))


def test_runs_are_optional_only_where_they_may_be_skipped(project: Path) -> None:
    assert not read(project, prune=True, watchReads=True).has_optional_runs
    assert read(project, skipUnchanged=True).has_optional_runs


def test_two_extensions_with_one_key_end_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = type("Mine", (Extension,), {"name": "mine", "watch_keys": Prune})
    twin = type("Twin", (Extension,), {"name": "twin", "watch_keys": Prune})
    monkeypatch.setattr(found, "installed", lambda: found.Installed([mine, twin], False))
    with pytest.raises(InputError, match="`twin` and mine have a key `prune`"):
        watch_keys()


@pytest.mark.parametrize("is_installed", [True, False])
def test_key_of_an_extension_that_is_not_loaded_is_named(
    monkeypatch: pytest.MonkeyPatch, project: Path, is_installed: bool
) -> None:
    """An error where an entry point says that something is missing; else ignored as any other key."""
    monkeypatch.setattr(found, "installed", lambda: found.Installed((), is_installed))
    keys = {"version": "v1", "kind": "Demo", "role": "demo", "prune": True}
    (project / "watches.yaml").write_text(f"- {json.dumps(keys)}\n")
    if not is_installed:
        _, (warning,) = loaded(project)
        assert warning.is_warning
        assert "unknown key `prune` was ignored" in warning.what
        return
    with pytest.raises(ProblemsError, match="unknown key `prune`") as raised:
        loaded(project)
    (problem,) = raised.value.problems
    assert (problem.line, problem.is_warning) == (1, False)
    assert "reinstall the extension" in problem.hint


def loaded(project: Path) -> tuple[list[Watch], list[Problem]]:
    return load_watches(Path("watches.yaml"), {}, WatchDefaults(), project, watch_keys())


def read(project: Path, **keys: Any) -> Watch:
    return replace(watch(project, keys, watch_keys()), line=0)
