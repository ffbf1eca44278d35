"""Who gets an application's requests, and what a rollout makes of nodes and autoscalers."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.own.cases import DEPLOYMENT, POD, SERVICE
from tests.e2e.own.world import APP, APPOPERATOR, make, pod_spec, wait, wait_reason

pytestmark = pytest.mark.usefixtures("engine")

SLICE = Gvk("discovery.k8s.io", "v1", "EndpointSlice")


async def endpoints(api: Client, namespace: str) -> set[str]:
    """Names of the pods behind the Services."""
    slices = await api.list_all(SLICE, namespace)
    ready = [one for each in slices for one in each["endpoints"] or []]
    return {one["targetRef"]["name"] for one in ready}


async def test_foreign_pod_of_the_same_label_gets_none_of_its_requests(
    api: Client, namespace: str
) -> None:
    theirs = make(POD, namespace, "theirs", pod_spec())
    theirs["spec"]["containers"][0]["ports"] = [{"name": "app", "containerPort": 81}]
    theirs["metadata"]["labels"] = {"app": "till"}
    await api.create(POD, theirs)
    spec = {**APP, "port": 80, "replicas": 2}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "till", spec))
    await wait_reason(api, APPOPERATOR, namespace, "till", "Available")

    async def has_two() -> bool:
        return len(await endpoints(api, namespace)) >= 2

    await wait(has_two)
    found = await endpoints(api, namespace)
    assert (len(found), "theirs" in found) == (2, False)
    selector = (await api.get(SERVICE, namespace, "till"))["spec"]["selector"]
    uid = (await api.get(APPOPERATOR, namespace, "till"))["metadata"]["uid"]
    assert selector == {"app": "till", "tools.rolecall.dev/owner": uid}


async def test_release_that_no_node_takes_is_not_rolled_back_and_the_old_pods_stay(
    api: Client, namespace: str
) -> None:
    spec: Json = {**APP, "replicas": 1, "rolloutDeadlineSeconds": 5}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "wide", spec))
    await wait_reason(api, APPOPERATOR, namespace, "wide", "Available")
    edit = {"nodeSelector": {"disk": "none-such"}, "image": {"tag": "7.7"}}
    await api.merge_patch(APPOPERATOR, namespace, "wide", {"spec": edit})

    said = await wait_reason(api, APPOPERATOR, namespace, "wide", "PodsUnschedulable")
    assert "didn't match Pod's node affinity/selector" in said["message"]
    await api.merge_patch(APPOPERATOR, namespace, "wide", {"spec": {"nodeSelector": None}})
    await wait_reason(api, APPOPERATOR, namespace, "wide", "Available")
    assert (await api.get(APPOPERATOR, namespace, "wide"))["status"]["currentImage"].endswith("7.7")


async def test_autoscaler_that_goes_leaves_its_pods(api: Client, namespace: str) -> None:
    spec = {**APP, "autoscaling": {"minReplicas": 3, "maxReplicas": 6}}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "busy", spec))

    async def runs(replicas: int) -> bool:
        cr = await api.get(APPOPERATOR, namespace, "busy")
        found = (await api.get(DEPLOYMENT, namespace, "busy"))["spec"]["replicas"]
        is_seen = cr["status"]["observedGeneration"] == cr["metadata"]["generation"]
        return is_seen and (found, cr["status"]["replicas"]) == (replicas, replicas)

    await wait(lambda: runs(3))
    await api.merge_patch(APPOPERATOR, namespace, "busy", {"spec": {"autoscaling": None}})
    await wait_reason(api, APPOPERATOR, namespace, "busy", "Available")
    await wait(lambda: runs(3))

    await api.merge_patch(APPOPERATOR, namespace, "busy", {"spec": {"replicas": 2}})
    await wait(lambda: runs(2))


async def test_pod_has_what_the_spec_says_beside_its_container(api: Client, namespace: str) -> None:
    spec: Json = {
        **APP,
        "port": 80,
        "ports": [
            {"name": "metrics", "port": 9090},
            {"name": "dns", "port": 53, "protocol": "UDP"},
        ],
        "initContainers": [{"name": "prepare", "image": "registry.example.com/prepare:3"}],
        "preStop": {"sleep": {"seconds": 4}},
        "terminationGracePeriodSeconds": 44,
        "serviceAccountName": "clerk",
        "podLabels": {"team": "till"},
        "tolerations": [{"key": "spot", "operator": "Exists"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
    }
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "full", spec))

    async def template() -> Json:
        template: Json = (await api.get(DEPLOYMENT, namespace, "full"))["spec"]["template"]
        return template

    made = await wait(template)
    pod = made["spec"]
    (container,), (first,) = pod["containers"], pod["initContainers"]
    assert made["metadata"]["labels"]["team"] == "till"
    assert container["lifecycle"]["preStop"] == spec["preStop"]
    assert first["securityContext"]["allowPrivilegeEscalation"] is False
    assert (pod["serviceAccountName"], pod["terminationGracePeriodSeconds"]) == ("clerk", 44)
    assert pod["tolerations"] == spec["tolerations"]
    assert pod["topologySpreadConstraints"][0]["labelSelector"] == {"matchLabels": {"app": "full"}}
    ports = (await wait(lambda: api.get(SERVICE, namespace, "full")))["spec"]["ports"]
    assert [(one["name"], one["port"], one["protocol"]) for one in ports] == [
        ("app", 80, "TCP"),
        ("metrics", 9090, "TCP"),
        ("dns", 53, "UDP"),
    ]

    gone = dict.fromkeys(("serviceAccountName", "initContainers", "preStop", "ports", "podLabels"))
    await api.merge_patch(APPOPERATOR, namespace, "full", {"spec": gone})

    async def is_gone() -> bool:
        now = (await template())["spec"]
        is_there = "initContainers" in now or "lifecycle" in now["containers"][0]
        return not is_there and now["serviceAccountName"] == "default"

    await wait(is_gone)
