"""This repository's kinds: what a plan says of their samples is what the first run then does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from rolecall.extending import watch_keys
from rolecall.json_object import Json
from rolecall.plan import Certainty, PlannedChange
from rolecall.watches import Watch, WatchDefaults, load_watches
from rolecall_dev.localcluster import Cluster
from tests.apiserver.plan.comparison import describe
from tests.apiserver.plan.harness import PlanBench, plan_bench

ROOT = Path(__file__).parents[3]
# Kinds, an edit of each spec, and the kinds of objects that a first run makes. MachineOperation is not
# among them: it only changes a Machine that works.
CASES = {
    "DemoVolume": ({"size": 2}, {"PersistentVolumeClaim"}),
    "Appoperator": ({"replicas": 5}, {"Deployment", "Service"}),
    "Mapping": ({"match": {"prefix": "/other/"}}, {"Service"}),
    "PodSet": ({"replicas": 2}, {"Pod"}),
    "Machine": ({"disk": 2}, {"PersistentVolumeClaim", "Pod"}),
    "EtcdCluster": (
        {"backupSchedule": "0 4 * * *"},
        {"Service", "StatefulSet", "CronJob", "ConfigMap", "PodDisruptionBudget"},
    ),
}


@pytest.fixture(scope="module")
def crds(cluster: Cluster) -> None:
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")


@pytest.fixture
async def bench(cluster: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[PlanBench]:
    """With the roles of this repository."""
    async with plan_bench(cluster, namespace, tmp_path, roles_path=str(ROOT / "roles")) as opened:
        yield opened


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.usefixtures("crds")
async def test_plan_of_an_own_kind_is_what_its_first_run_does(bench: PlanBench, kind: str) -> None:
    edit, made = CASES[kind]
    watch = own_watch(kind)
    cr = await bench.client.create(watch.gvk, sample(kind, bench.namespace))
    cr = {"apiVersion": watch.gvk.api_version, "kind": kind, **cr}

    held = await bench.planned_watch(watch, cr)
    assert not held.plan.failure, describe(held.plan)
    assert made <= {each.gvk.kind for each in held.plan.objects}, describe(held.plan)
    assert {each.change for each in held.plan.objects} == {PlannedChange.CREATE}
    # A claim that a role applies twice in one run: the second apply is on what was only planned.
    unsure = {each.title for each in held.plan.objects if each.certainty is not Certainty.EXACT}
    assert unsure <= {f"PersistentVolumeClaim {bench.namespace}/etcd-sample-backup"}
    await held.check()

    cr = await bench.client.merge_patch(
        watch.gvk, bench.namespace, cr["metadata"]["name"], {"spec": edit}
    )
    cr = {"apiVersion": watch.gvk.api_version, "kind": kind, **cr}
    held = await bench.planned_watch(watch, cr)
    assert not held.plan.failure, describe(held.plan)
    await held.check()


def own_watch(kind: str) -> Watch:
    watches, _ = load_watches(Path("watches.yaml"), {}, WatchDefaults(), ROOT, watch_keys())
    return next(watch for watch in watches if watch.gvk.kind == kind)


def sample(kind: str, namespace: str) -> Json:
    text = (ROOT / "config" / "samples" / f"{kind.lower()}.yaml").read_text()
    loaded: Json = yaml.safe_load(text)
    return {**loaded, "metadata": {**loaded["metadata"], "namespace": namespace}}
