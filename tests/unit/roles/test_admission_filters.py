"""What of an EtcdCluster is refused before it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

Json = dict[str, Any]
refusals = role_filter("etcdcluster_admission", "etcdcluster_admission_refusals")
new_target = role_filter("etcdcluster_admission", "etcdcluster_admission_new_target")


def member(number: int, version: str = "3.5.35", **more: Any) -> Json:
    return {"name": f"db-{number}", "version": version, "healthy": True, **more}


def status(*members: Json, **more: Any) -> Json:
    """Of three healthy members, unless others are named."""
    return {"members": list(members or map(member, range(3))), **more}


def asked(old: Json | None, new: Json, said: Json | None = None) -> Json:
    """A request for one whose spec was this, and shall be that."""
    sides = [
        {"spec": {"version": "3.5.35", "replicas": 3, **spec}, "status": said or {}}
        for spec in (old or {}, new)
    ]
    return {
        "operation": "CREATE" if old is None else "UPDATE",
        "old_object": None if old is None else sides[0],
        "object": sides[1],
        "name": "db",
        "subresource": "",
    }


MIXED = (member(0, "3.6.1"), member(1), member(2))
NEWER = tuple(member(number, "3.6.1") for number in range(3))
SICK = (member(0, healthy=False), *map(member, range(1, 5)))
GROWING = (*map(member, range(3)), member(3, "", learner=True))


@pytest.mark.parametrize(
    ("new", "said", "words"),
    [
        ({"version": "3.4.0"}, status(), "cannot go back from 3.5.35 to 3.4.0"),
        ({"version": "3.6.1"}, status(member(0, "3.5.25")), "go to 3.5.26 or a later 3.5 first"),
        ({"version": "3.7.0"}, status(), "one minor release at a time"),
        ({"version": "4.0.0"}, status(), "one minor release at a time"),
        ({"version": "3.6.2"}, status(*MIXED), "upgrade from 3.5.35 to 3.6.1 is under way"),
        ({"replicas": 5}, status(*MIXED), "upgrade from 3.5.35 to 3.6.1 is under way"),
        ({"version": "3.6.1"}, status(*GROWING), "members are on their way, 4 of 3"),
        ({"replicas": 1}, status(*SICK), "db-0 would stay and is not healthy"),
    ],
)
def test_change_that_members_could_not_follow_is_refused(new: Json, said: Json, words: str) -> None:
    (said_why,) = refusals(asked({}, new, said), [], {})
    assert words in said_why
    assert said_why.startswith(f"spec.{next(iter(new))}: ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({}, {"version": "3.6.1"}, status()),
        ({}, {"version": "3.5.10"}, status()),
        ({}, {"version": "3.5.36"}, status()),
        ({"version": "3.6.1"}, {"version": "3.5.35"}, status(*MIXED)),
        ({"version": "3.6.1"}, {"version": "3.5.34"}, status(*MIXED)),
        ({"version": "3.6.1"}, {"version": "3.5.35"}, status(*NEWER)),
        ({}, {"replicas": 5}, status()),
        ({}, {"replicas": 1}, status()),
        ({}, {"version": "9.9.9"}, {}),  # nothing is known of its members
        ({"version": "3.5.359"}, {"version": "3.5.35"}, status(targetVersion="3.5.359")),
        ({"version": "3.5.359"}, {"version": "3.6.1"}, status(targetVersion="3.5.359")),
        ({"version": "3.6.2"}, {"version": "3.6.1"}, status(*MIXED)),
        ({"replicas": 5}, {"replicas": 3}, status(*GROWING)),
        (
            {"replicas": 5},
            {"replicas": 3},
            status(*map(member, range(4)), member(4, healthy=False)),
        ),
        ({"replicas": 5}, {"replicas": 1, "recover": "db-0-0a1b2c3d"}, status(*SICK)),
        ({}, {"backupSchedule": "0 3 * * *"}, status(*MIXED)),
        ({"version": "3.4.0"}, {"version": "3.4.0", "monitoring": True}, status()),
    ],
)
def test_what_members_can_follow_or_what_takes_a_change_back_is_let_through(
    old: Json, new: Json, said: Json
) -> None:
    assert refusals(asked(old, new, said), [], {}) == []


def test_scaling_is_judged_by_the_cluster_that_is_scaled() -> None:
    cluster = asked({}, {"replicas": 5}, status(*SICK))["object"]
    request = {
        "operation": "UPDATE",
        "object": {"spec": {"replicas": 3}},
        "old_object": {"spec": {"replicas": 5}},
        "name": "db",
        "subresource": "scale",
    }
    (why,) = refusals(request, [], cluster)
    assert "db-0 would stay" in why
    assert refusals(request, [], {}) == []
    assert new_target(request) == {}


def test_name_is_refused_where_its_objects_belong_to_somebody() -> None:
    ours = {"metadata": {"name": "db-peer", "labels": {"mycompany.com/etcdcluster": "db"}}}
    theirs = {"kind": "Service", "metadata": {"name": "db-client"}}
    (why,) = refusals(asked(None, {}), [ours, theirs], {})
    assert "Service db-client of that name is there" in why
    assert refusals(asked(None, {}), [ours], {}) == []


def test_backups_are_looked_after_only_where_they_go_elsewhere() -> None:
    target = {"endpoint": "https://s3", "bucket": "b", "secretName": "s"}
    assert new_target(asked(None, {"backupS3": target})) == target
    assert new_target(asked({}, {"backupS3": target})) == target
    assert new_target(asked({"backupS3": target}, {"backupS3": target})) == {}
    assert new_target(asked({"backupS3": target}, {})) == {}
