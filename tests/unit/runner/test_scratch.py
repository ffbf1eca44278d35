from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from rolecall.runner.scratch import scratch, sweep_leftovers
from rolecall.settings import RunnerSettings
from rolecall_base.variables import SCRATCH_VARIABLE
from tests.unit.runner.cases import prepared_run

SETTINGS = RunnerSettings()
DAY_S = 86400.0
NOW = 100 * DAY_S


def test_ansibles_temporary_folders_lie_in_one_that_goes_when_it_is_empty(tmp_path: Path) -> None:
    prepared = replace(prepared_run(), env={"TMPDIR": str(tmp_path)})
    with scratch(prepared, SETTINGS) as env:
        folder = Path(env[SCRATCH_VARIABLE])
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o077 == 0
        assert env["ANSIBLE_LOCAL_TEMP"] == f"{folder}/local"
        assert env["ANSIBLE_REMOTE_TEMP"] == f"{folder}/remote"
        assert env["TMPDIR"] == str(tmp_path)  # tasks pass files to each other there
        (folder / "local").mkdir()
    assert not folder.exists()


def test_what_background_jobs_need_stays(tmp_path: Path) -> None:
    prepared = replace(prepared_run(), env={"TMPDIR": str(tmp_path)})
    with scratch(prepared, SETTINGS) as env:
        job = Path(env["ANSIBLE_REMOTE_TEMP"]) / "job"
        job.mkdir(parents=True)
    assert job.exists()


def test_users_own_settings_and_remote_hosts_are_left_alone(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "ANSIBLE_LOCAL_TEMP": "/theirs"}
    remote = RunnerSettings(inventory=tmp_path)
    with scratch(replace(prepared_run(), env=env), remote) as found:
        assert found["ANSIBLE_LOCAL_TEMP"] == "/theirs"
        assert "ANSIBLE_REMOTE_TEMP" not in found


def test_only_old_leftovers_of_plays_are_swept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ansibles = home / ".ansible" / "tmp"
    ages_days = {
        tmp_path / "ansible_command_payload_old": 3,
        tmp_path / "ansible_command_payload_new": 1,
        tmp_path / "rolecall-run-old": 3,
        tmp_path / "k8srcp-discovery.json": 3,
        tmp_path / "of-another-program": 3,
        ansibles / "ansible-tmp-old": 3,
        ansibles / "ansible-local-old": 3,
        ansibles / "ansible-tmp-new": 1,
    }
    for path, age_days in ages_days.items():
        path.mkdir(parents=True)
        (path / "file").write_text("x")
        os.utime(path, (NOW - age_days * DAY_S,) * 2)
    sweep_leftovers({"TMPDIR": str(tmp_path), "HOME": str(home)}, NOW)
    left = {path.name for path in ages_days if path.exists()}
    assert left == {
        "ansible-local-old",  # runs have theirs elsewhere, so it is not ours
        "ansible_command_payload_new",
        "ansible-tmp-new",
        "k8srcp-discovery.json",
        "of-another-program",
    }


def test_old_folder_of_a_run_that_goes_on_is_not_swept(tmp_path: Path) -> None:
    prepared = replace(prepared_run(), env={"TMPDIR": str(tmp_path)})
    with scratch(prepared, SETTINGS) as env:
        folder = Path(env[SCRATCH_VARIABLE])
        os.utime(folder, (NOW - 3 * DAY_S,) * 2)
        sweep_leftovers({"TMPDIR": str(tmp_path)}, NOW)
        assert folder.exists()


def test_discovery_of_kubernetes_core_goes_with_the_run_whose_password_names_it(
    tmp_path: Path,
) -> None:
    request = replace(prepared_run().request, kubeconfig=tmp_path / "kubeconfig")
    request.kubeconfig.write_text('clusters:\n- cluster:\n    server: "http://u:p@localhost:1"\n')
    prepared = replace(prepared_run(), request=request, env={"TMPDIR": str(tmp_path)})
    server = "http://u:p@localhost:1"
    keys = [f"{server}-{os.getuid()}", server]  # root is no user to them
    names = [f"k8srcp-{hashlib.sha256(key.encode()).hexdigest()}.json" for key in keys]
    ours = [tmp_path / name for name in names]
    other = tmp_path / "k8srcp-other.json"
    with scratch(prepared, SETTINGS):
        for path in (*ours, other):
            path.write_text("{}")
    assert [path.exists() for path in (*ours, other)] == [False, False, True]
