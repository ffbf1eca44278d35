"""What pruning would take away is in the plan, and is what the run then takes.

The command plans real plays; what was made before, and the run that follows, are scripted.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rolecall.extensions.plan import MODE_ANNOTATION
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.shelves import SHELVES
from tests.e2e.engine import PATIENCE_S
from tests.e2e.features.planning import SOMETHING, PlanCommand
from tests.e2e.kinds import CONFIG_MAP, condition, cr
from tests.e2e.wanted_kinds import SHELF, WANTED, add_owner, edited, made, names
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("wanted")


@pytest.fixture
def planned(cluster: Cluster, namespace: str, tmp_path: Path) -> PlanCommand:
    return PlanCommand(cluster, namespace, tmp_path)


async def test_plan_of_a_shorter_loop_lists_what_the_run_then_prunes(
    api: Client, namespace: str, start_engine: StartEngine, planned: PlanCommand
) -> None:
    await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b", "c", "d", "e"])
    stays = {"metadata": {"annotations": {"rolecall.dev/prune": "false"}}}
    await api.merge_patch(CONFIG_MAP, namespace, "x-c", stays)
    other = await made(api, SHELF, namespace, "other")
    await add_owner(api, namespace, "x-e", other)
    file = planned.file(cr(SHELF, namespace, books=["a"], reads=["d"]))
    said = await asyncio.to_thread(planned, WANTED, "--cr", file, code=SOMETHING)
    assert f"Shelf {namespace}/x: 1 to change, 1 to delete" in said
    assert f"  - ConfigMap {namespace}/x-b  [no task: pruned]" in said
    assert f"  ~ ConfigMap {namespace}/x-e  [no task: pruned]" in said
    listed = await asyncio.to_thread(planned.objects, WANTED, "--cr", file, code=SOMETHING)
    assert listed == [
        ("delete", "x-b"),
        ("change", "x-e"),
    ]
    assert await names(api, namespace) == {f"x-{book}" for book in "abcde"}
    await edited(api, SHELF, namespace, books=["a"], reads=["d"])
    assert await names(api, namespace) == {f"x-{book}" for book in "acde"}
    kept = await api.get(CONFIG_MAP, namespace, "x-e")
    assert [row["name"] for row in kept["metadata"]["ownerReferences"]] == ["other"]


async def test_observed_cr_reports_what_would_be_pruned(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    observed = {"metadata": {"annotations": {MODE_ANNOTATION: "observe"}}}
    await api.merge_patch(SHELF, namespace, "x", {**observed, "spec": {"books": ["a"]}})
    found = await eventually_async(
        lambda: api.get(SHELF, namespace, "x"),
        lambda cr: bool(condition(cr, "Drifted").get("status") == "True"),
        timeout_s=PATIENCE_S,
    )
    message = condition(found, "Drifted")["message"]
    assert message == f"A run would change 1 object: ConfigMap {namespace}/x-b (delete)"
    assert await names(api, namespace) == {"x-a", "x-b"}


@pytest.mark.nightly
async def test_plan_without_rights_to_inventories_reports_that_pruning_is_not_shown(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    planned: PlanCommand,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    rules = [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]},
        {"apiGroups": [SHELF.group], "resources": ["*"], "verbs": ["*"]},
    ]
    file = planned.file(cr(SHELF, namespace, books=["a"], word="new"))
    kubeconfig = service_account_kubeconfig(rules)
    said = await asyncio.to_thread(
        planned, WANTED, "--cr", file, code=SOMETHING, kubeconfig=kubeconfig
    )
    assert f"Shelf {namespace}/x: 1 to change\n" in said
    assert "  ! not shown: pruning: " in said
    assert "configmaps" in said
