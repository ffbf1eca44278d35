"""What is said of an etcd cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

verdict = role_filter("etcdcluster", "etcdcluster_verdict", "etcdcluster_verdict")

MEMBERS = [{"name": f"db-{n}", "version": "3.5.1"} for n in range(3)]
NO_LOSS = {"reason": "", "kept": ["db-0", "db-1", "db-2"], "code": "12345678"}
ATTEMPT = {"do": "", "request": "", "snapshot": "", "backup": "", "message": ""}
IN_PLACE = ATTEMPT | {"request": "restore-11111111", "snapshot": "a.db", "backup": "old.db"}
REFUSED = IN_PLACE | {"state": "Refused", "message": "no such file"}
SILENT = {"known": False, "members": [], "step": {"do": "wait", "member": {}}}


def facts(**changes: Any) -> dict[str, Any]:
    well = {
        "restoring": "",
        "attempt": ATTEMPT,
        "recover": "",
        "word": "restore-22222222",
        "note": "",
        "recovery": {"do": "", "member": ""},
        "loss": NO_LOSS,
        "known": True,
        "members": MEMBERS,
        "told": MEMBERS,
        "running": 3,
        "pods": 3,
        "wanted": 3,
        "target": {"version": "3.5.1", "refusal": ""},
        "step": {"do": "nothing", "member": {}},
        "renewal": {"pods": [], "waits_for": "", "left": 0, "renewed": []},
        "why": "",
        "refused": False,
        "users": {"wanted": False, "enabled": False},
        "secret": "db-operator",
        "space": {"full": False, "roomy": True, "size": "1Mi", "quota": "9Mi"},
    }
    return well | changes


def said(**changes: Any) -> tuple[str, str]:
    found = verdict(facts(**changes))
    return found["reason"], found["message"]


FULL = {"full": True, "roomy": False, "size": "9Mi", "quota": "9Mi"}
ASKS = {"wanted": True, "enabled": True}
UPGRADE = {"version": "3.6.1", "refusal": ""}
SICK = {"do": "wait", "member": {"name": "db-1"}}


@pytest.mark.parametrize(
    ("changes", "reason", "part"),
    [
        ({}, "Healthy", "3 members run 3.5.1"),
        ({"restoring": "a.db"}, "Restoring", "`a.db`"),
        ({"attempt": IN_PLACE | {"do": "try"}}, "Restoring", "`a.db` is tried"),
        (SILENT | {"attempt": IN_PLACE | {"do": "fill"}}, "Restoring", "is in `old.db`"),
        ({"attempt": REFUSED, "recover": "restore-11111111"}, "RestoreRefused", "no such file"),
        ({"attempt": REFUSED}, "Healthy", "3 members"),
        ({"note": "it does nothing"}, "Healthy", "3.5.1; it does nothing"),
        (SILENT | {"told": [], "why": "db-0: ErrImagePull"}, "Starting", "run: db-0: ErrImagePull"),
        (SILENT, "Starting", "find each other again"),
        (SILENT | {"running": 1}, "NoQuorum", "`db-0-12345678` or `db-1-12345678`"),
        ({"step": {"do": "grow", "member": {}}, "wanted": 5}, "Scaling", "going to 5; step: grow"),
        ({"step": SICK}, "MembersUnhealthy", "`db-1` is not healthy; nothing is changed"),
        ({"step": SICK, "target": UPGRADE}, "MembersUnhealthy", "`db-1` is not healthy, so no"),
        ({"target": UPGRADE}, "Upgrading", "0 of 3 members run 3.6.1"),
        ({"target": {"version": "3.5.1", "refusal": "no"}}, "VersionRefused", "no"),
        (SILENT | {"refused": True}, "AccessRefused", "etcd asks for a user, and spec.auth"),
        (SILENT | {"refused": True, "users": ASKS}, "AccessRefused", "delete the pod of one"),
        ({"users": ASKS | {"enabled": False}}, "Renewing", "ask for user and password then"),
        ({"users": ASKS}, "Healthy", "3 members"),
        ({"space": FULL}, "DatabaseFull", "has 9Mi and its quota is 9Mi; delete keys"),
        ({"space": FULL | {"roomy": True, "size": "2Mi"}}, "DatabaseFull", "2Mi of 9Mi"),
        ({"renewal": facts()["renewal"] | {"left": 2}}, "Renewing", "2 pods"),
    ],
)
def test_reason_and_message_say_what_is_true(
    changes: dict[str, Any], reason: str, part: str
) -> None:
    found, message = said(**changes)

    assert found == reason
    assert part in message


def test_member_that_starts_with_the_new_version_is_part_of_the_upgrade() -> None:
    renewed = facts()["renewal"] | {"renewed": ["db-1"], "left": 2}

    reason, message = said(step=SICK, target=UPGRADE, renewal=renewed, why="db-1: ErrImagePull")

    assert (reason, "ErrImagePull" in message) == ("Upgrading", True)


@pytest.mark.parametrize(
    ("kept", "reason", "ways"),
    [([], "DataLost", ["empty"]), (["db-2"], "QuorumLost", ["db-2", "empty"])],
)
def test_lost_cluster_is_never_healthy_and_its_message_offers_the_ways_out(
    kept: list[str], reason: str, ways: list[str]
) -> None:
    lost = {"reason": reason, "kept": kept, "code": "12345678"}

    found, message = said(**SILENT, loss=lost)

    assert found == reason
    assert all(f"`{way}-12345678`" in message for way in ways)
    assert said(**SILENT, loss=lost, recovery={"do": "empty", "member": ""})[0] == "Recovering"
