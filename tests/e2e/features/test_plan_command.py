"""`rolecall plan` against live CRs: an upgrade, a fleet, a deletion, and rights that lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import EngineProcess
from tests.e2e.features.planning import (
    NOTHING,
    REFUSED,
    SOMETHING,
    TROUBLE,
    UNKNOWN,
    PlanCommand,
    project,
)
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.e2e.wanted_kinds import HEAP, RACK, made, names
from tests.fixtures.cluster import ServiceAccountKubeconfig

# Engines of this folder do not watch Rack, so only plans act on it.
pytestmark = pytest.mark.usefixtures("wanted")


@pytest.fixture
def planned(cluster: Cluster, namespace: str, tmp_path: Path) -> PlanCommand:
    return PlanCommand(cluster, namespace, tmp_path)


@pytest.mark.nightly
async def test_changed_template_of_the_next_version_shows_its_change_of_live_crs(
    api: Client,
    namespace: str,
    engine: EngineProcess,
    planned: PlanCommand,
    projects: Path,
    tmp_path: Path,
) -> None:
    now, after = projects / "now", project(tmp_path / "next", "new")
    await made(api, HEAP, namespace, "one", books=["a", "b"])
    await made(api, HEAP, namespace, "two", books=["a"])
    await made(api, HEAP, namespace, "none")

    said = planned(now, "--all", code=NOTHING)
    assert "3 CRs: 3 without a change, 0 with\n" in said
    said = planned(now, "--all", "--project", str(after), code=SOMETHING)
    assert said.count("      ~ .data.word: old -> new\n") == 3
    assert f"Heap {namespace}/none" not in said, "of a fleet, it is only counted"
    assert "3 CRs: 1 without a change, 2 with\nin all: 3 to change\n" in said
    assert "  change ConfigMap: 3\n" in said
    assert planned.objects(now, "heap/two", "--project", str(after), code=SOMETHING) == [
        ("change", "two-a")
    ]
    found = await api.get(CONFIG_MAP, namespace, "two-a")
    assert found["data"] == {"word": "old"}


@pytest.mark.nightly
async def test_deletion_is_planned_with_the_variables_of_its_finalizer(
    api: Client, namespace: str, planned: PlanCommand, tmp_path: Path
) -> None:
    finalizer = {"name": "wanted.rolecall.dev/last", "vars": {"books": ["last"]}}
    folder = project(tmp_path / "now", "bye", kind="Rack", finalizer=finalizer)
    await api.create(RACK, cr(RACK, namespace, books=["a"]))
    assert planned.objects(folder, "rack/x", code=SOMETHING) == [("create", "x-a")]
    named = ("rack/x", "--finalizer")
    assert planned.objects(folder, *named, code=SOMETHING) == [("create", "x-last")]
    there = (await api.get(RACK, namespace, "x"))["metadata"]
    assert not there.get("finalizers")
    assert not there.get("deletionTimestamp")


async def test_task_that_may_act_is_not_run_and_makes_the_plan_unknown(
    api: Client, namespace: str, planned: PlanCommand, tmp_path: Path
) -> None:
    """Neither "nothing would change" nor "something would", whatever the rest of the role does."""
    folder = project(tmp_path / "now", "any", kind="Rack")
    witness = tmp_path / "witness"
    tasks = folder / "roles" / "heap" / "tasks" / "main.yml"
    acting = f"- name: act\n  ansible.builtin.shell: kubectl get pods | tee {witness}\n"
    tasks.write_text(f"{tasks.read_text()}\n{acting}")
    await api.create(RACK, cr(RACK, namespace, "none"))
    await api.create(RACK, cr(RACK, namespace, "some", books=["a"]))
    said = planned(folder, "rack/none", code=UNKNOWN)
    assert f"`kubectl get pods | tee {witness}`: a pipe"[:60] in said
    assert "without a change" not in said
    assert planned.objects(folder, "rack/some", code=UNKNOWN) == [("create", "some-a")]
    said = planned(folder, "--all", code=UNKNOWN)
    assert "2 CRs: 0 without a change" in said
    assert not witness.exists()
    assert await names(api, namespace) == set()


async def test_missing_right_for_a_write_is_reported_with_the_rule_and_is_trouble(
    api: Client,
    namespace: str,
    planned: PlanCommand,
    tmp_path: Path,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    folder = project(tmp_path / "now", "any", kind="Rack")
    await api.create(RACK, cr(RACK, namespace, books=["a"]))
    kubeconfig = service_account_kubeconfig(
        [
            {"apiGroups": [RACK.group], "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
        ]
    )
    said = planned(folder, "rack/x", code=TROUBLE, kubeconfig=kubeconfig)
    assert "! unknown from here on: roles/heap/tasks/main.yml:2" in said
    assert "cannot create" in said
    assert "configmaps" in said
    assert "Traceback" not in said
    assert await names(api, namespace) == set()


async def test_cr_that_the_user_may_not_read_is_trouble_in_one_sentence(
    api: Client,
    namespace: str,
    planned: PlanCommand,
    tmp_path: Path,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    folder = project(tmp_path / "now", "any", kind="Rack")
    await api.create(RACK, cr(RACK, namespace))
    kubeconfig = service_account_kubeconfig(name="stranger")
    said = planned(folder, "rack/x", code=REFUSED, kubeconfig=kubeconfig)
    assert "racks" in said
    assert "Traceback" not in said
