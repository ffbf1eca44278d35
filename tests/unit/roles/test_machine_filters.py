"""What is done with a machine's pod and disk, and what is said of them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

shape = role_filter("machine", "machine_shape")
security = role_filter("machine", "machine_pod_security")
plan = role_filter("machine", "machine_plan")
seen = role_filter("machine", "machine_seen")
verdict = role_filter("machine", "machine_verdict")

GIB = 2**30
NOW = "2026-01-01T00:10:00Z"
GOING = {"deletionTimestamp": NOW}


def pod(
    *, image: str = "app:1", made_from: str = "s", phase: str = "Running", **metadata: Any
) -> dict[str, Any]:
    is_ready = "True" if phase == "Running" else "False"
    return {
        "metadata": {
            "uid": "p1",
            "annotations": {"compute.rolecall.dev/shape": made_from},
            "creationTimestamp": NOW,
            **metadata,
        },
        "spec": {"containers": [{"name": "machine", "image": image}]},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": is_ready}]},
    }


def disk(
    *, asks: str = "1Gi", phase: str = "Bound", origin: str = "", **metadata: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = {"resources": {"requests": {"storage": asks}}}
    if origin:
        spec["dataSource"] = {"name": origin}
    status = {"phase": phase, "capacity": {"storage": asks}}
    return {"metadata": metadata, "spec": spec, "status": status}


def wanted(**changes: Any) -> dict[str, Any]:
    sizes = {"disk": GIB, "disk_now": GIB, "capacity": GIB}
    told = {"refusal": "", "why": "", "restore_from": "", "now": NOW}
    return {"running": True, "shape": "s", **sizes, **told, **changes}


def steps(
    of_pod: dict[str, Any], of_disk: dict[str, Any] | None = None, **changes: Any
) -> tuple[str, str]:
    found = plan(of_pod, disk() if of_disk is None else of_disk, {}, wanted(**changes))
    return found["pod"], found["disk"]


def tell(of_pod: dict[str, Any], of_disk: dict[str, Any], **changes: Any) -> dict[str, Any]:
    what = wanted(**changes)
    told: dict[str, Any] = verdict(of_pod, of_disk, plan(of_pod, of_disk, {}, what), what)
    return told


def test_machine_that_is_as_wanted_is_left_alone() -> None:
    assert steps(pod()) == ("keep", "keep")


def test_new_machine_gets_its_disk_and_its_pod() -> None:
    assert steps({}, {}, disk_now=0) == ("create", "create")


def test_pod_that_ended_or_has_another_shape_is_removed() -> None:
    assert steps(pod(phase="Failed")) == ("remove", "keep")
    assert steps(pod(made_from="other")) == ("remove", "keep")
    assert steps(pod(annotations={})) == ("remove", "keep")


def test_pod_that_goes_is_waited_for() -> None:
    assert steps(pod(made_from="other", **GOING)) == ("wait", "keep")


def test_no_pod_takes_hold_of_a_disk_that_is_being_deleted() -> None:
    assert steps({}, disk(**GOING)) == ("wait", "keep")


def test_shape_without_a_user_is_what_it_always_was() -> None:
    before = hashlib.sha1(b'app:1 {"cpu": "2", "memory": "2Gi"}', usedforsecurity=False)
    size = {"memory": "2Gi", "cpu": "2"}

    assert shape("app:1", size, "-1") == before.hexdigest()
    assert shape("app:1", size, 0) != shape("app:1", size, 1) != before.hexdigest()


def test_machine_without_a_user_runs_as_that_of_its_image_and_never_as_root() -> None:
    found = security("-1")

    assert "runAsUser" not in found
    assert (found["runAsNonRoot"], found["fsGroup"]) == (True, 1000)
    assert security(10001)["runAsUser"] == security(10001)["fsGroup"] == 10001


def test_machine_that_asks_for_root_gets_it() -> None:
    assert (security(0)["runAsNonRoot"], security(0)["runAsUser"]) == (False, 0)


def test_image_and_sidecar_of_a_webhook_do_not_replace_the_pod() -> None:
    changed = pod(image="mirror.local/app:1")
    changed["spec"]["containers"].insert(0, {"name": "sidecar", "image": "mesh:1"})
    at_first = seen(changed, {})

    assert at_first == {"uid": "p1", "image": "mirror.local/app:1"}
    for said in ({}, {"podSeen": at_first}, {"podSeen": {"uid": "p0", "image": "app:1"}}):
        assert plan(changed, disk(), said, wanted())["pod"] == "keep"


def test_image_that_was_edited_afterwards_replaces_the_pod() -> None:
    said = {"podSeen": seen(pod(), {})}

    assert plan(pod(image="other"), disk(), said, wanted())["pod"] == "remove"
    assert seen(pod(image="other"), said) == said["podSeen"]


def test_stopped_machine_loses_its_pod_and_keeps_its_disk() -> None:
    assert steps(pod(), running=False) == ("remove", "keep")
    assert steps({}, running=False) == ("wait", "keep")
    assert steps({}, {}, running=False, disk_now=0) == ("wait", "create")


def test_stopped_machine_says_so_and_is_not_ready() -> None:
    stopping, stopped = (tell(of_pod, disk(), running=False) for of_pod in (pod(), {}))

    assert (stopping["reason"], stopping["again"]) == ("Stopping", True)
    assert (stopped["ready"], stopped["reason"], stopped["phase"]) == (False, "Stopped", "Stopped")
    assert not stopped["again"]


@pytest.mark.parametrize(
    ("asks", "now", "phase", "step"),
    [
        (5, 1, "Bound", "grow"),
        (5, 1, "Pending", "keep"),  # a claim takes another size only once it has a volume
        (1, 5, "Bound", "keep"),
        ("5368709120", "1073741824", "Bound", "grow"),
        ("1073741824", "1073741824", "Bound", "keep"),
    ],
)
def test_disk_grows_where_more_is_asked_for(asks: Any, now: Any, phase: str, step: str) -> None:
    assert steps(pod(), disk(phase=phase), disk=asks, disk_now=now) == ("keep", step)


def test_refused_disk_is_told_in_the_words_of_the_refusal_and_the_pod_is_cared_for() -> None:
    told = tell(pod(), disk(), disk=5 * GIB, refusal="only some classes can")

    assert (told["ready"], told["reason"]) == (False, "DiskRefused")
    assert told["message"] == ("the disk keeps its size: only some classes can; the pod is ready")
    assert told["disk"] == {
        "type": "DiskReady",
        "status": "False",
        "reason": "DiskRefused",
        "message": "only some classes can",
    }
    assert steps({}, disk(), disk=5 * GIB)[0] == "create"


def test_machine_that_is_not_ready_says_why() -> None:
    told = tell(pod(phase="Pending"), disk(), why="m: ErrImagePull: not found")

    assert told["message"] == "the pod is not ready yet, pending: m: ErrImagePull: not found"
    assert (told["ready"], told["reason"], told["again"]) == (False, "PodPending", True)


def test_pod_that_is_not_ready_for_long_is_not_looked_at_every_two_seconds() -> None:
    old = pod(phase="Pending", creationTimestamp="2026-01-01T00:05:00Z")

    assert not tell(old, disk())["again"]


@pytest.mark.parametrize(
    ("found", "changes", "reason", "words"),
    [
        (disk(), {}, "DiskBound", "the disk has 1Gi"),
        (disk(**GOING), {}, "DiskGoing", "the claim is being deleted"),
        (disk(phase="Lost"), {}, "DiskLost", "a Rebuild makes a new, empty one"),
        (disk(phase="Pending"), {}, "DiskPending", "waits for a volume"),
        (
            disk(phase="Pending"),
            {"restore_from": "s"},
            "DiskPending",
            "from the VolumeSnapshot `s`",
        ),
        (disk(), {"restore_from": "s"}, "DiskBound", "a Rebuild does so"),
        (disk(origin="s"), {"restore_from": "s"}, "DiskBound", "the disk has 1Gi"),
        (disk(), {"disk": 5 * GIB, "disk_now": 5 * GIB}, "DiskGrowing", "has 1Gi and grows"),
        (disk(asks="5Gi"), {"disk_now": 5 * GIB}, "DiskBound", "has 5Gi; it never shrinks"),
    ],
)
def test_disk_says_how_it_is(
    found: dict[str, Any], changes: dict[str, Any], reason: str, words: str
) -> None:
    told = tell(pod(), found, **changes)

    assert told["disk"]["reason"] == reason
    assert told["disk"]["message"].endswith(words) or words in told["disk"]["message"]
    assert told["ready"]


def test_growth_that_failed_is_told_in_the_words_of_the_claim() -> None:
    found = disk()
    found["status"]["conditions"] = [{"type": "ControllerResizeError", "message": "no space left"}]

    told = tell(pod(), found, disk=5 * GIB, disk_now=5 * GIB)
    assert told["disk"]["message"] == "the disk has 1Gi and grows; no space left"
