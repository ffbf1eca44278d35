"""`prove` with an older git revision: what that one left behind is found, other changes are quiet."""

from __future__ import annotations

import asyncio
import copy
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from rolecall_dev.proving import Wish, prove
from rolecall_dev.staging import TrialCluster
from tests.e2e.engine import ROOT
from tests.e2e.proving.small_roles import SmallRole, read_roles, write_project

_MODULE = "kubernetes.core.k8s"


@pytest.mark.nightly
async def test_object_that_a_new_revision_names_otherwise_is_left_behind_and_found(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collections = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", collections)
    plain = next(role for role in read_roles("correct") if role.name == "plain")
    renamed, changed = replace(plain, name="renamed"), replace(plain, name="changed")
    project = write_project(tmp_path / "project", [renamed, changed])
    _git(project, "init", "--quiet")
    _commit(project)
    write_project(project, [_with_other_name(renamed), _with_a_label(changed)])
    _commit(project)

    async with TrialCluster.on(cluster) as trial_cluster:
        report = await prove(
            Wish(project, checks=["upgrade"], from_revision="HEAD~1"), trial_cluster=trial_cluster
        )
    await asyncio.get_running_loop().shutdown_default_executor()
    (found,) = report.findings
    assert (found.check, found.kind) == ("upgrade", "Renamed")
    assert "ConfigMap/one: should not be there" in found.found
    assert not report.undecided
    assert [name.partition(":")[0] for name in report.passed] == ["Changed/one"]


def _with_other_name(role: SmallRole) -> SmallRole:
    tasks = copy.deepcopy(role.tasks)
    tasks[0][_MODULE]["definition"]["metadata"]["name"] += "-settings"
    return replace(role, tasks=tasks)


def _with_a_label(role: SmallRole) -> SmallRole:
    tasks = copy.deepcopy(role.tasks)
    tasks[0][_MODULE]["definition"]["metadata"]["labels"] = {"made-by": "second"}
    return replace(role, tasks=tasks)


def _commit(project: Path) -> None:
    _git(project, "add", ".")
    names = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    _git(project, *names, "commit", "--quiet", "--message", "x")


def _git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(project), *words], check=True)
