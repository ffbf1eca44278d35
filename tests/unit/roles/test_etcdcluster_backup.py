"""What is read of Jobs, pods, and what containers printed."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter


def _filter(name: str) -> Any:
    return role_filter("etcdcluster", f"etcdcluster_{name}", "etcdcluster_backup")


read_jobs = _filter("jobs")
marked = _filter("marked")
pods_words = _filter("pods_words")
rows_of = _filter("rows")

THEN = "2027-01-15T07:00:00Z"  # an hour before


def job(name: str, *conditions: str, at: str = THEN, **status: str) -> dict[str, Any]:
    found = [{"type": each, "status": "True", "lastTransitionTime": at} for each in conditions]
    metadata = {"name": name, "creationTimestamp": at}
    return {"metadata": metadata, "status": {"conditions": found} | status}


def failed_pod(container: str, log: str, code: int = 1) -> dict[str, Any]:
    ending = {"terminated": {"exitCode": code, "message": log}}
    return {"status": {"initContainerStatuses": [{"name": container, "state": ending}]}}


def test_jobs_are_read_oldest_first_with_what_became_of_them() -> None:
    later = "2027-01-15T08:00:00Z"
    suspended = {"type": "Complete", "status": "False", "lastTransitionTime": later}
    running = {"metadata": {"name": "new"}, "status": {"conditions": [suspended]}}
    found = read_jobs(
        [
            job("late", "FailureTarget", "Failed", at=later),
            job("early", "SuccessCriteriaMet", "Complete", completionTime="2027-01-15T07:30:00Z"),
            running,
        ]
    )

    assert [(each["metadata"]["name"], each["state"], each["ended"]) for each in found] == [
        ("new", "active", ""),
        ("early", "succeeded", "2027-01-15T07:30:00Z"),
        ("late", "failed", later),
    ]


def test_pod_that_cannot_start_says_why() -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "rclone:1: not found"}}
    pod = {"status": {"containerStatuses": [{"name": "list", "state": waiting}]}}
    cannot = {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}

    assert pods_words([pod]) == "`list`: ErrImagePull: rclone:1: not found"
    assert pods_words([{"status": {"conditions": [cannot]}}]) == "0/2 nodes are available"
    assert pods_words([failed_pod("restore", "", 2)]) == "`restore`: exit code 2"
    evicted = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}
    killed = {"terminated": {"exitCode": 137}}
    statuses = {"containerStatuses": [{"name": "restore", "state": killed}], "conditions": [cannot]}
    assert pods_words([{"status": evicted | statuses}]) == "Evicted: The node was low on memory."
    assert pods_words([]) == ""


def test_volumes_are_found_by_an_annotation() -> None:
    metadata = [
        {"name": "mine", "annotations": {"mark": "a"}},
        {"name": "theirs", "annotations": {"mark": "b"}},
        {"name": "plain", "annotations": None},
        {"name": "bare"},
    ]
    assert marked([{"metadata": each} for each in metadata], "mark", "a") == ["mine"]


def test_listed_times_have_no_fractions() -> None:
    text = '[{"Name": "a.db", "ModTime": "2027-01-15T06:00:00.123Z", "Size": 20}]'
    assert rows_of(text) == [{"name": "a.db", "time": "2027-01-15T06:00:00Z", "size": 20}]
    assert rows_of("{}") == rows_of("no log") == []
