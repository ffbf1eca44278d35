from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.runner import RunRequest
from rolecall.runner.folders import CannotStartError
from rolecall.runner.inputs import BUNDLED_COLLECTIONS, PreparedRun, prepare
from rolecall.settings import RunnerSettings
from rolecall.watches import Finalizer, Play
from tests.unit.runner.cases import app, run_request


class Project:
    """A project folder with a role and a playbook, and an engine's settings for it."""

    def __init__(self, folder: Path) -> None:
        self.settings = RunnerSettings(root=folder / "runner")
        self.role = Play(folder / "roles" / "app", is_role=True)
        self.playbook = Play(folder / "playbooks" / "app.yml", is_role=False)
        (self.role.path / "tasks").mkdir(parents=True)
        self.playbook.path.parent.mkdir()
        self.playbook.path.write_text("- hosts: localhost\n")

    def prepare(self, request: RunRequest | None = None, **settings: Any) -> PreparedRun:
        return prepare(request or run_request(play=self.role), replace(self.settings, **settings))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "ENABLE_TURBO_MODE", "ANSIBLE_COLLECTIONS_PATH"):
        monkeypatch.delenv(name, raising=False)
    return Project(tmp_path)


def env_file(prepared: PreparedRun, name: str) -> Any:
    return json.loads((prepared.private_dir / "env" / name).read_text())


def test_everything_on_disk_is_private(project: Project) -> None:
    prepared = project.prepare(run_request(app({"password": "x"}), play=project.playbook))
    modes = {stat.S_IMODE(path.stat().st_mode): path for path in prepared.private_dir.rglob("*")}
    assert set(modes) == {0o700, 0o600}


def test_a_role_runs_in_the_play_that_ansible_runner_makes_for_it(project: Project) -> None:
    prepared = project.prepare()
    assert prepared.role_play is not None
    play = json.loads(prepared.role_play.read_text())
    assert play == [{"hosts": "localhost", "gather_facts": True, "roles": [{"name": "app"}]}]
    assert prepared.command[1:] == (
        "-i",
        str(prepared.private_dir / "inventory"),
        "-e",
        f"@{prepared.private_dir}/env/extravars",
        str(prepared.role_play),
    )
    assert prepared.env["ANSIBLE_ROLES_PATH"] == f"{project.role.path.parent}/"
    assert prepared.cwd == prepared.private_dir / "project"
    prepared.clean_up()
    assert list(prepared.cwd.iterdir()) == []


def test_facts_are_skipped_on_request(project: Project) -> None:
    prepared = project.prepare(skip_facts=True)
    assert prepared.role_play is not None
    assert json.loads(prepared.role_play.read_text())[0]["gather_facts"] is False


def test_a_playbook_runs_where_it_lies_and_is_shown_in_the_project(project: Project) -> None:
    prepared = project.prepare(run_request(play=project.playbook, verbosity=3))
    assert prepared.command[-2:] == ("-vvv", str(project.playbook.path))
    shown = prepared.private_dir / "project" / "playbook.yaml"
    assert shown.read_text() == project.playbook.path.read_text()
    assert prepared.role_play is None


def test_verbosity_of_the_environment_is_not_added_to_the_command_line(project: Project) -> None:
    request = run_request(play=project.playbook, verbosity=1)
    prepared = project.prepare(request, environment={"ANSIBLE_VERBOSITY": "1"})
    assert "-v" in prepared.command
    assert "ANSIBLE_VERBOSITY" not in prepared.env


def test_a_role_with_a_full_name_runs_inside_its_collection(
    tmp_path: Path, project: Project
) -> None:
    root = tmp_path / "collections"
    role = root / "ansible_collections" / "acme" / "tools" / "roles" / "web"
    role.mkdir(parents=True)
    prepared = project.prepare(run_request(play=Play(role, True, fqcn="acme.tools.web")))
    assert prepared.role_play is not None
    assert json.loads(prepared.role_play.read_text())[0]["roles"] == [{"name": "acme.tools.web"}]
    assert prepared.env["PYTHONPATH"].split(":") == [str(root), str(BUNDLED_COLLECTIONS)]


def test_our_own_collection_comes_last_and_leaves_configuration_alone(project: Project) -> None:
    prepared = project.prepare(environment={"PYTHONPATH": "/theirs"})
    assert prepared.env["PYTHONPATH"] == f"/theirs:{BUNDLED_COLLECTIONS}"
    assert "ANSIBLE_COLLECTIONS_PATH" not in prepared.env
    paths = project.prepare(collections_path="/c", roles_path="/r").env
    assert paths["ANSIBLE_COLLECTIONS_PATH"] == "/c"


def test_the_kubeconfig_reaches_modules_and_tools(project: Project) -> None:
    request = run_request(play=project.role, kubeconfig=Path("/tmp/k"))
    prepared = project.prepare(request, environment={"KUBECONFIG": "/wrong", "HTTP_PROXY": "p"})
    expected = {"K8S_AUTH_KUBECONFIG": "/tmp/k", "KUBECONFIG": "/tmp/k"}
    assert env_file(prepared, "envvars") == expected
    assert {name: prepared.env[name] for name in expected} == expected
    assert prepared.env["HTTP_PROXY"] == "p"


def test_ansible_runners_own_environment_is_there(project: Project) -> None:
    prepared = project.prepare()
    assert prepared.env["ANSIBLE_RETRY_FILES_ENABLED"] == "False"
    assert prepared.env["ANSIBLE_CACHE_PLUGIN_CONNECTION"] == f"{prepared.artifacts}/fact_cache"
    assert prepared.env["AWX_ISOLATED_DATA_DIR"] == str(prepared.artifacts)


def test_turbo_mode_is_switched_off_silently(project: Project) -> None:
    assert "ENABLE_TURBO_MODE" not in project.prepare(environment={"ENABLE_TURBO_MODE": "1"}).env


def test_settings_of_another_engine_are_overwritten(project: Project) -> None:
    prepared = project.prepare()
    settings = prepared.private_dir / "env" / "settings"
    settings.write_text(json.dumps({"runner_http_url": "/gone"}))
    project.prepare()
    assert "runner_http_url" not in env_file(prepared, "settings")


def test_ansible_args_come_first_and_do_not_outlive_their_flag(project: Project) -> None:
    prepared = project.prepare(ansible_args="'--tags \"a b\" --diff'")
    assert prepared.command[1:4] == ("--tags", "a b", "--diff")
    prepared = project.prepare()
    assert not (prepared.private_dir / "env" / "cmdline").exists()
    assert "--tags" not in prepared.command


def test_unbalanced_quotes_in_ansible_args_are_reported(project: Project) -> None:
    with pytest.raises(CannotStartError, match="--ansible-args"):
        project.prepare(ansible_args='--tags "a')


def test_the_generated_inventory_is_the_contracts(project: Project) -> None:
    prepared = project.prepare()
    assert (prepared.private_dir / "inventory" / "hosts").read_text() == (
        "localhost ansible_connection=local"
        ' ansible_python_interpreter="{{ ansible_playbook_python }}"\n'
    )
    prepared = project.prepare(environment={"VIRTUAL_ENV": "/venv"})
    hosts = (prepared.private_dir / "inventory" / "hosts").read_text()
    assert "ansible_python_interpreter=/venv/bin/python3\n" in hosts


def test_a_custom_inventory_is_copied_and_cleaned_on_a_switch(
    tmp_path: Path, project: Project
) -> None:
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    (folder / "group_vars" / "all.yml").write_text("x: 1")
    script = folder / "hosts.sh"
    script.write_text("#!/bin/sh")
    script.chmod(0o755)
    inventory = project.prepare(inventory=folder).private_dir / "inventory"
    assert (inventory / "group_vars" / "all.yml").read_text() == "x: 1"
    assert os.access(inventory / "hosts.sh", os.X_OK)
    project.prepare(inventory=script)
    names = sorted(path.name for path in inventory.iterdir())
    assert names == ["000-rolecall-interpreter", "hosts"]
    project.prepare()
    assert [path.name for path in inventory.iterdir()] == ["hosts"]


def test_a_missing_inventory_stops_the_run_and_names_the_variable(project: Project) -> None:
    with pytest.raises(CannotStartError, match="/nowhere") as caught:
        project.prepare(inventory=Path("/nowhere"))
    assert "ANSIBLE_INVENTORY" in caught.value.hint


def test_a_finalizer_run_takes_the_finalizers_play_else_the_main_one(project: Project) -> None:
    own = Finalizer("a/b", play=project.playbook)
    request = run_request(play=project.role, finalizer=own, is_finalizer=True)
    assert project.prepare(request).play.path == project.playbook.path
    main = run_request(play=project.role, finalizer=own)
    assert project.prepare(main).play.path == project.role.path
    only_vars = run_request(play=project.role, finalizer=Finalizer("a/b"), is_finalizer=True)
    assert project.prepare(only_vars).play.path == project.role.path


@pytest.mark.parametrize("is_role", [True, False])
def test_a_play_that_vanished_is_named(project: Project, is_role: bool) -> None:
    gone = Play(Path("/gone/app"), is_role=is_role)
    with pytest.raises(CannotStartError, match="`/gone/app` was not found"):
        project.prepare(run_request(play=gone))


def test_a_cr_that_is_nested_too_deeply_is_reported(project: Project) -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    with pytest.raises(CannotStartError, match="nested too deeply"):
        project.prepare(run_request(app({"deep": value}), play=project.role))


def test_withheld_keys_are_named_in_the_log(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.prepare(run_request(app({"ansibleConnection": "ssh"}), play=project.role))
    (record,) = caplog.records
    assert record.fields["keys"] == "ansible_connection"  # type: ignore[attr-defined]
    assert record.fields["name"] == "shop"  # type: ignore[attr-defined]


def test_a_root_that_cannot_be_written_is_reported(tmp_path: Path, project: Project) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotStartError, match="could not be written"):
        project.prepare(root=tmp_path / "file" / "runner")


def test_the_ansible_playbook_beside_our_python_is_used(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = tmp_path / "bin" / "ansible-playbook"
    beside.parent.mkdir()
    beside.write_text("")
    monkeypatch.setattr(sys, "executable", str(beside.with_name("python3")))
    assert project.prepare().command[0] == str(beside)
    beside.unlink()
    with pytest.raises(CannotStartError, match="`ansible-playbook` was not found"):
        project.prepare(environment={"PATH": "/nowhere"})
