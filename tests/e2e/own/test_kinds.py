"""Each kind of this repository through its whole life, by the engine as a process.

`bench/kinds.py` makes a table of how long the steps take.
"""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S
from tests.e2e.own.cases import CASES, CLAIM, POD, Case
from tests.e2e.own.life import NOT_YET, STEPS, Life
from tests.e2e.own.world import (
    APP,
    APPOPERATOR,
    POD_SET,
    create,
    make,
    pod_spec,
    wait_settled,
)
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("engine")

OPERATION = Gvk("compute.rolecall.dev", "v1alpha1", "MachineOperation")
MACHINE = Gvk("compute.rolecall.dev", "v1alpha1", "Machine")
QUICK = ("demovolume", "mapping", "podset")  # their whole life takes some seconds


# The one that takes longest comes first: meanwhile the garbage collector, which looks for new kinds
# each 30 s, gets to know ours, and no later test waits for it.
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, id=case.sample, marks=[] if case.sample in QUICK else [pytest.mark.nightly]
        )
        for case in CASES[::-1]
    ],
)
async def test_kind_lives_through_create_edit_damage_bad_spec_and_delete(
    api: Client, namespace: str, case: Case
) -> None:
    assert set(await Life(api, case, namespace).live()) == set(STEPS)


@pytest.mark.nightly
async def test_kubectl_scale_works_on_a_kind_that_has_replicas(
    api: Client, namespace: str, cluster: Cluster
) -> None:
    pods = {"template": {"spec": pod_spec()}, "replicas": 1}
    crs = [
        make(POD_SET, namespace, "p", pods),
        make(APPOPERATOR, namespace, "a", APP),
    ]
    await create(api, crs)
    await wait_settled(api, crs)
    names = ("podset/p", "appoperator/a")
    cluster.kubectl("--namespace", namespace, "scale", "--replicas=2", *names)
    await wait_settled(api, crs)
    assert (await api.get(POD_SET, namespace, "p"))["status"]["podNames"] == ["p-0", "p-1"]
    assert (await api.get(APPOPERATOR, namespace, "a"))["status"]["progress"] == "2/2"


@pytest.mark.nightly
async def test_rebuild_replaces_pod_and_disk_after_the_reboot_before_it_ended(
    api: Client, namespace: str
) -> None:
    spec = {"image": "registry.example.com/machine:1.0"}
    await api.create(MACHINE, _object(MACHINE, namespace, "box", spec))
    before = await eventually_async(
        lambda: _uids(api, namespace), timeout_s=PATIENCE_S, ignoring=NOT_YET
    )

    for name, kind in (("one", "Reboot"), ("two", "Rebuild")):
        body = _object(OPERATION, namespace, name, {"machine": "box", "type": kind})
        await api.create(OPERATION, body)
    history = await eventually_async(
        lambda: _history(api, namespace), lambda rows: len(rows) == 2, timeout_s=PATIENCE_S * 2
    )
    after = await eventually_async(
        lambda: _uids(api, namespace), timeout_s=PATIENCE_S, ignoring=NOT_YET
    )

    assert [(row["type"], row["phase"]) for row in history] == [
        ("Rebuild", "Succeeded"),
        ("Reboot", "Succeeded"),
    ]
    assert history[0]["startTime"] >= history[1]["endTime"]
    assert before["pod"] != after["pod"]
    assert before["disk"] != after["disk"]


def _object(gvk: Gvk, namespace: str, name: str, spec: Json) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": spec}


async def _uids(api: Client, namespace: str) -> dict[str, str]:
    pod = await api.get(POD, namespace, "box")
    disk = await api.get(CLAIM, namespace, "box-disk")
    assert pod["status"]["phase"] == "Running"
    return {"pod": pod["metadata"]["uid"], "disk": disk["metadata"]["uid"]}


async def _history(api: Client, namespace: str) -> list[Json]:
    machine = await api.get(MACHINE, namespace, "box")
    rows: list[Json] = machine.get("status", {}).get("operations", [])
    return rows
