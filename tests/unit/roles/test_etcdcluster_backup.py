"""What is read of Jobs, pods, and what containers printed."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter


def _filter(name: str) -> Any:
    return role_filter("etcdcluster", f"etcdcluster_{name}", "etcdcluster_backup")


ended = _filter("ended")
is_orphaned = _filter("is_orphaned")
jobs_of = _filter("jobs")
job_state = _filter("job_state")
pods_words = _filter("pods_words")

THEN = "2027-01-15T07:00:00Z"  # an hour before


def job(name: str, state: str = "succeeded", at: str = THEN, **labels: str) -> dict[str, Any]:
    kind = {"succeeded": "Complete", "failed": "Failed"}.get(state)
    metadata = {"name": name, "creationTimestamp": at}
    condition = {"type": kind, "status": "True", "lastTransitionTime": at}
    return {
        "metadata": metadata | {"labels": {"mycompany.com/part": "backup"} | labels},
        "status": {"conditions": [condition]} if kind else {"active": 1},
    }


def failed_pod(container: str, log: str, code: int = 1) -> dict[str, Any]:
    ending = {"terminated": {"exitCode": code, "message": log}}
    return {"status": {"initContainerStatuses": [{"name": container, "state": ending}]}}


def test_job_that_ended_last_counts_and_not_one_that_goes() -> None:
    going = job("going", at="2027-01-15T09:00:00Z")
    going["metadata"]["deletionTimestamp"] = THEN
    late = job("late", "failed", at="2027-01-15T08:00:00Z")
    restore = job("db-0-restore", **{"mycompany.com/part": "restore"})

    found = jobs_of([late, job("early"), going, restore], "backup")

    assert [each["metadata"]["name"] for each in found] == ["early", "late"]
    assert ended(found) == late
    assert ended([]) == {}
    assert (job_state({}), job_state(late), job_state(job("x", "active"))) == (
        "",
        "failed",
        "active",
    )


def test_pod_that_cannot_start_says_why() -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "rclone:1: not found"}}
    pod = {"status": {"containerStatuses": [{"name": "list", "state": waiting}]}}
    cannot = {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}

    assert pods_words([pod]) == "`list`: ErrImagePull: rclone:1: not found"
    assert pods_words([{"status": {"conditions": [cannot]}}]) == "0/2 nodes are available"
    assert pods_words([failed_pod("restore", "", 2)]) == "`restore`: exit code 2"
    assert pods_words([]) == ""


def test_objects_that_belong_to_the_cr_no_more_are_orphaned() -> None:
    cr: dict[str, Any] = {"metadata": {"uid": "u1", "finalizers": ["mycompany.com/last-backup"]}}
    owned = {"metadata": {"ownerReferences": [{"uid": "u1"}]}}

    assert not is_orphaned(cr, [owned])
    assert not is_orphaned(cr, [])  # deleted by the garbage collector, in the foreground
    assert is_orphaned(cr, [{"metadata": {}}])
    assert is_orphaned({"metadata": cr["metadata"] | {"finalizers": ["orphan"]}}, [owned])
