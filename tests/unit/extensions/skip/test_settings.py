"""Each setting of runs and of their proxy that changes what runs do brings a run of each CR."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.skip.extension import facts_of
from rolecall.runner import inputs_of
from rolecall.settings import ProxySettings, RunnerSettings, Settings
from rolecall.watches import Play
from tests.unit.extending.views import engine_view

# A setting without a row fails the test.
RUNNER: dict[str, Any] = {
    "ansible_args": "--diff",
    "inventory": Path("hosts"),
    "skip_facts": True,
    "trust_cr_text": True,
    "collections_path": "/collections",
    "environment": {"ANSIBLE_HASH_BEHAVIOUR": "merge"},
}
PROXY: dict[str, Any] = {"inject_owner": False, "adopts": True, "allows_impersonation": True}
ROLES_PATH = "roles_path"  # its folders are inputs of each project
NOT_OF_RUNS = {
    *("root", "cluster", "server", "way", "timeout_s", "no_progress_timeout_s"),
    *("keep_days", "keep_bytes", "keep_total_bytes", "debug_logs", "memory_bytes", "warm_idle_s"),
    *("port", "folder", "record"),
}
SETTINGS = {
    **{
        f"runner.{name}": Settings(runner=replace(RunnerSettings(), **{name: value}))
        for name, value in RUNNER.items()
    },
    **{
        f"proxy.{name}": Settings(proxy=replace(ProxySettings(), **{name: value}))
        for name, value in PROXY.items()
    },
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_setting_that_changes_runs_is_an_input_of_all(tmp_path: Path, settings: Settings) -> None:
    found, usual = (
        facts_of(engine_view(tmp_path, settings=each)) for each in (settings, Settings())
    )
    assert (found.versions, found.environment) != (usual.versions, usual.environment)


def test_every_setting_of_runs_and_of_their_proxy_is_judged() -> None:
    known = {each.name for kind in (RunnerSettings, ProxySettings) for each in fields(kind)}
    assert known == {*RUNNER, *PROXY, ROLES_PATH} | NOT_OF_RUNS


def test_collection_below_the_collections_path_is_the_one_whose_version_counts(
    tmp_path: Path,
) -> None:
    core = tmp_path / "ansible_collections" / "kubernetes" / "core"
    core.mkdir(parents=True)
    runner = RunnerSettings(collections_path=str(tmp_path))
    facts = []
    for version in ("1.2.3", "1.2.4"):
        manifest = {"collection_info": {"version": version}}
        (core / "MANIFEST.json").write_text(json.dumps(manifest))
        facts.append(facts_of(engine_view(tmp_path, settings=Settings(runner=runner))))
    assert facts[0].versions != facts[1].versions


def test_folders_of_the_roles_path_are_inputs(tmp_path: Path) -> None:
    settings = RunnerSettings(roles_path="/a:/b")
    found = inputs_of(Play(tmp_path / "roles" / "app", is_role=True), settings)
    assert {Path("/a"), Path("/b")} <= set(found)
