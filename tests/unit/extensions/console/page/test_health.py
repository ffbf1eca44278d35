"""How objects do, in a word or two, and why not well."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.extensions.console.page.health import health_of, ready_endpoints
from rolecall.gvk import Gvk
from rolecall.json_object import Json

POD = Gvk("", "v1", "Pod")


@pytest.mark.parametrize(
    ("kind", "found", "word", "is_well"),
    [
        ("Deployment", {"spec": {"replicas": 2}, "status": {"readyReplicas": 2}}, "2 of 2", True),
        ("Deployment", {"spec": {"replicas": 2}, "status": {}}, "0 of 2 ready", False),
        ("StatefulSet", {"spec": {}, "status": {"readyReplicas": 1}}, "1 of 1 ready", True),
        ("Deployment", {"spec": {"replicas": 0}, "status": {}}, "0 of 0 ready", True),
        ("Pod", {"status": {"phase": "Running"}}, "Running", True),
        ("Pod", {"status": {"phase": "Failed"}}, "Failed", False),
        ("Job", {"status": {"succeeded": 1}}, "1 succeeded, 0 failed", True),
        ("Job", {"status": {"failed": 3}}, "0 succeeded, 3 failed", False),
        ("Shop", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "Ready", True),
        ("Shop", {"status": {"conditions": [{"type": "Ready"}]}}, "not Ready", False),
        ("ConfigMap", {}, "exists", None),
        ("Pod", {"metadata": {"deletionTimestamp": "x"}}, "is being deleted", False),
    ],
)
def test_health_in_a_word_or_two(kind: str, found: Json, word: str, is_well: bool | None) -> None:
    reported, is_good, _ = health_of(Gvk("", "v1", kind), found)
    assert word in reported and is_good is is_well


def container(reason: str = "", ended: Json | None = None, **more: Any) -> Json:
    state: Json = {"waiting": {"reason": reason, "message": "so it is"}} if reason else {}
    if ended:
        state = {"terminated": ended}
    return {"containerStatuses": [{"name": "web", "state": state, **more}]}


def not_placed(message: str) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"phase": "Pending", "conditions": [{**condition, "message": message}]}


OOM = {"lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
NOT_READY = {"conditions": [{"type": "Ready", "status": "False"}]}


@pytest.mark.parametrize(
    ("status", "words", "is_well", "why"),
    [
        (container("ImagePullBackOff"), "ImagePullBackOff", False, "container web: so it is"),
        (
            container("CrashLoopBackOff", restartCount=14, **OOM),
            "CrashLoopBackOff",
            False,
            "14 restarts, the last after OOMKilled",
        ),
        (container(ended={"reason": "OOMKilled", "exitCode": 137}), "OOMKilled", False, "code 137"),
        (container("ContainerCreating"), "ContainerCreating", None, ""),
        (not_placed("0/5 nodes fit"), "Pending: unschedulable", False, "0/5 nodes fit"),
        ({"phase": "Running", **container(restartCount=1)}, "Running", True, "1 restart"),
        (
            {"phase": "Running", **NOT_READY, **container(ready=False)},
            "not ready",
            False,
            "not ready: web",
        ),
        ({"phase": "Failed", "reason": "Evicted", "message": "disk"}, "Evicted", False, "disk"),
        ({"phase": "Succeeded"}, "Succeeded", True, ""),
    ],
)
def test_pod_says_why_it_does_not_run(
    status: Json, words: str, is_well: bool | None, why: str
) -> None:
    found = health_of(POD, {"status": {"phase": "Pending", **status}})
    assert (found.words, found.is_well) == (words, is_well)
    assert why in found.why and bool(why) is bool(found.why)


def test_deployment_says_what_its_controller_says() -> None:
    stuck = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}
    found = {"spec": {"replicas": 1}, "status": {"conditions": [stuck]}}
    assert health_of(Gvk("apps", "v1", "Deployment"), found).why == "exceeded quota"


@pytest.mark.parametrize(
    ("kind", "found", "words", "is_well"),
    [
        (
            "Ingress",
            {"status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}},
            "address 10.0.0.1",
            True,
        ),
        ("Ingress", {}, "no address", None),
        ("Service", {"spec": {"type": "LoadBalancer"}}, "no address", False),
        ("Service", {"spec": {"type": "ClusterIP"}}, "exists", None),
        ("PersistentVolumeClaim", {"status": {"phase": "Pending"}}, "Pending", False),
        ("CronJob", {"spec": {"suspend": True}}, "suspended", None),
    ],
)
def test_what_else_people_look_for(
    kind: str, found: Json, words: str, is_well: bool | None
) -> None:
    assert health_of(Gvk("", "v1", kind), found)[:2] == (words, is_well)


def test_endpoint_without_a_condition_is_ready() -> None:
    ready = [{}, {"conditions": {"ready": True}}, {"conditions": {"ready": False}}]
    assert ready_endpoints({"endpoints": ready}) == 2
