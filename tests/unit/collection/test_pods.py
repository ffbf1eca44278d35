"""Why pods are not ready, in their own words."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from tests.unit.collection.plugins import part

pods = part("plugin_utils.pods")


def pod(name: str = "web-1", container: Any = None, spec: Any = None, **status: Any) -> Json:
    if container is not None:
        status["containerStatuses"] = [{"name": "app", "ready": False, **container}]
    spec = spec or {"containers": [{"name": "app", "readinessProbe": {"httpGet": {}}}]}
    return {"kind": "Pod", "metadata": {"name": name}, "spec": spec, "status": status}


def waiting(reason: str, message: str = "", **more: Any) -> Json:
    return {"state": {"waiting": {"reason": reason, "message": message}}, **more}


READY = pod("ok", conditions=[{"type": "Ready", "status": "True"}])
NOT_SCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
GO_PANIC = (
    "panic: tocommit(9) is out of range\n\n" + "goroutine 1 [running]:\n\tmain.go:31 +0x35\n" * 20
)
JSON_LOG = (
    '{"level":"info","msg":"starts"}\n' * 20
    + '{"level":"fatal","ts":1,"msg":"cannot listen","error":"address in use","stacktrace":"main.main"}'
)


def ended_with(message: str) -> Json:
    return pod(container={"state": {"terminated": {"exitCode": 2, "message": message}}})


PULL = waiting("ErrImagePull", "registry.local/app:x: not found")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (pod(container=PULL), "ErrImagePull: registry.local/app:x: not found"),
        (pod(conditions=[{**NOT_SCHEDULED, "message": "0/3 nodes"}]), "Unschedulable: 0/3 nodes"),
        (
            pod(container=waiting("CrashLoopBackOff", "back-off 10s", lastState=KILLED)),
            "CrashLoopBackOff: container `app` ended: exit code 137 (OOMKilled)",
        ),
        (
            pod(
                container={
                    "state": {
                        "terminated": {"exitCode": 1, "reason": "Error", "message": "no disk"}
                    }
                }
            ),
            "container `app` ended: exit code 1: no disk",
        ),
        (
            ended_with(GO_PANIC),
            "container `app` ended: exit code 2: panic: tocommit(9) is out of range",
        ),
        (ended_with(JSON_LOG), "container `app` ended: exit code 2: cannot listen: address in use"),
        (ended_with("x" * 900 + "\nno room"), "container `app` ended: exit code 2: no room"),
        (ended_with("two\nlines"), "container `app` ended: exit code 2: two lines"),
        (
            pod(container={"state": {"running": {}}, "started": True}),
            "container `app` is running, but its readiness probe has not succeeded",
        ),
        (
            pod(container={"state": {"running": {}}, "started": False}),
            "container `app` is running, but its startup probe has not succeeded",
        ),
        (
            pod(container=waiting("CreateContainerConfigError", "secret x")),
            "CreateContainerConfigError: secret x",
        ),
        (
            pod(initContainerStatuses=[{"name": "i", **PULL}]),
            "ErrImagePull: registry.local/app:x: not found",
        ),
        (pod(phase="Failed", reason="Evicted", message="low on memory"), "Evicted: low on memory"),
        (pod(phase="Pending"), "is pending and not ready"),
        (pod(phase="Succeeded"), "has ended"),
        ({**READY, "metadata": {"name": "web-1", "deletionTimestamp": "now"}}, "is being deleted"),
    ],
)
def test_a_pod_says_why_it_is_not_ready(found: Json, why: str) -> None:
    assert pods.why_not_ready([READY, found]) == f"web-1: {why}"
    assert not pods.is_ready(found)


def test_nothing_is_said_of_pods_that_are_ready() -> None:
    assert pods.why_not_ready({"resources": [READY, READY]}) == ""
    assert pods.why_not_ready([]) == ""
    assert pods.is_ready(READY)


def test_most_specific_reason_comes_first_and_the_rest_is_counted() -> None:
    creating = [pod(f"web-{i}", waiting("ContainerCreating")) for i in range(2, 4)]
    same = [pod(f"web-{i}", PULL) for i in range(4, 7)]
    found = pods.why_not_ready([*creating, pod(container=PULL), *same])
    assert (
        found == "web-1 and 3 more: ErrImagePull: registry.local/app:x: not found;"
        " web-2 and 1 more: ContainerCreating"
    )


def test_words_that_differ_in_the_pods_own_name_alone_are_said_once() -> None:
    def backing_off(number: int) -> Json:
        name, uid = f"web-{number}", f"{number}a5c-77"
        words = f"back-off {number}m20s restarting failed container=app pod={name}_prod({uid})"
        found = pod(name, waiting("CrashLoopBackOff", words))
        return {**found, "metadata": {"name": name, "uid": uid}}

    said = pods.why_not_ready([backing_off(number) for number in (1, 2, 3)])
    assert said.startswith("web-1 and 2 more: CrashLoopBackOff: back-off 1m20s restarting")
    assert said.count("CrashLoopBackOff") == 1
    different = [pod(f"web-{i}", waiting("Failed", "x" * i)) for i in range(1, 6)]
    assert pods.why_not_ready(different).endswith("web-3: Failed: xxx; 2 more")


@pytest.mark.parametrize("type_", ["ReplicaFailure", "Failed"])
def test_what_makes_pods_says_why_it_could_not(type_: str) -> None:
    refused = {
        "type": type_,
        "status": "True",
        "reason": "FailedCreate",
        "message": "exceeded quota: q",
    }
    maker = {
        "metadata": {"name": "web"},
        "spec": {"template": {}},
        "status": {"conditions": [refused]},
    }
    assert pods.why_not_ready([maker]) == "web: FailedCreate: exceeded quota: q"
    assert pods.why_not_ready([{**maker, "status": {}}]) == ""


def test_hostile_objects_neither_break_it_nor_fill_the_status() -> None:
    odd = [
        {"metadata": {"name": "a"}, "status": None},
        {"metadata": {"name": "b"}, "status": {"conditions": "?"}},
    ]
    reported = "a and 1 more: is pending and not ready"
    assert pods.why_not_ready([*odd, None, 3, "x"]) == reported
    long = pods.why_not_ready(
        [pod(str(i) * 200, waiting("E" * 999, f"{i}" * 9999)) for i in range(9)]
    )
    assert len(long) <= pods.MOST_CHARACTERS + len("; 9 more")
