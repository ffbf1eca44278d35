"""What a backup of etcd does, what is told of it, and what is kept."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.roles.filters import role_filter


def _filter(name: str) -> Any:
    return role_filter("etcdcluster", f"etcdcluster_{name}", "etcdcluster_backup")


ended = _filter("ended")
is_orphaned = _filter("is_orphaned")
jobs_of = _filter("jobs")
job_state = _filter("job_state")
pods_words = _filter("pods_words")
said_of = _filter("backup_said")
status_of = _filter("backup_status")

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


def printed(stored: int = 7, restored: int = 7) -> list[dict[str, str]]:
    rows = [
        {"Name": "a.db", "ModTime": "2027-01-15T06:00:00.123Z", "Size": 20},
        {"Name": "b.db", "ModTime": "2027-01-15T07:00:00.5Z", "Size": 30},
    ]
    return [
        {"item": "stored", "log": json.dumps({"revision": stored, "totalKey": 5})},
        {"item": "restored", "log": f'{{"level":"info"}}x\n{json.dumps({"revision": restored})}'},
        {"item": "list", "log": "NOTICE: no config\n" + json.dumps(rows)},
    ]


def test_good_backup_is_verified_by_its_revision() -> None:
    told = status_of(job("by-hand"), [], printed(), {})

    good = {"snapshot": "by-hand.db", "time": THEN, "verified": True, "revision": 7, "keys": 5}
    assert told["lastGoodBackup"] == good
    assert told["lastBackup"]["result"] == "Succeeded"
    assert [each["name"] for each in told["backups"]] == ["b.db", "a.db"]
    assert told["backups"][0] == {"name": "b.db", "time": "2027-01-15T07:00:00Z", "size": 30}


def test_other_revision_after_the_restore_is_a_failed_backup() -> None:
    told = status_of(job("by-hand"), [], printed(restored=6), {})

    assert told["lastBackup"]["result"] == "Failed"
    assert "revision 7" in told["lastBackup"]["message"]
    assert "lastGoodBackup" not in told


def test_failed_backup_does_not_hide_the_last_good_one() -> None:
    good = {"snapshot": "old.db", "time": "2027-01-14T00:00:00Z", "verified": True}
    said = {"lastGoodBackup": good, "version": "3.6.0"}
    pods = [failed_pod("upload", "first\nAccessDenied: no\n")]

    told = said_of(said) | status_of(job("new", "failed"), pods, [], said)

    assert told["lastGoodBackup"] == good
    assert told["lastBackup"]["message"] == "`upload`: AccessDenied: no"


def test_good_backup_of_an_earlier_release_is_kept_when_the_next_fails() -> None:
    said = {"lastBackup": {"snapshot": "old.db", "time": THEN, "result": "Succeeded"}}

    told = status_of(job("new", "failed"), [], [], said)

    assert told["lastGoodBackup"] == {"snapshot": "old.db", "time": THEN}


def test_backup_without_any_log_is_good_but_not_verified() -> None:
    told = status_of(job("by-hand"), [], [{"item": "stored"}], {})

    assert told["lastGoodBackup"] == {"snapshot": "by-hand.db", "time": THEN, "verified": False}
    assert "backups" not in told


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
