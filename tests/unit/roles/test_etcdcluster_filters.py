"""Who is a member of an etcd cluster, and what the next step is."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

read = role_filter("etcdcluster", "etcdcluster_members")
rows_of = role_filter("etcdcluster", "etcdcluster_pods")
alone = role_filter("etcdcluster", "etcdcluster_alone")
text_of = role_filter("etcdcluster", "etcdcluster_text")
loss = role_filter("etcdcluster", "etcdcluster_loss")


def members_of(
    listed: str, states: str, name: str, volumes: Any, lag: int = 5000, known: Any = ()
) -> Any:
    return read(listed, states, name, volumes, lag, list(known))


def member(number: int, **changes: Any) -> dict[str, Any]:
    known = {
        "name": f"db-{number}",
        "id": f"{number}a",
        "healthy": True,
        "started": True,
        "learner": False,
        "leader": number == 0,
        "version": "3.6.16",
        "volume": f"v{number}",
    }
    return known | changes


def members(count: int) -> list[dict[str, Any]]:
    return [member(number) for number in range(count)]


def listed(*numbers: int) -> str:
    """What etcd lists, with ids as `member` has them."""
    return json.dumps({"members": [{"ID": n * 16 + 10, "name": f"db-{n}"} for n in numbers]})


def reported(found: Any) -> Any:
    return [row["reported"] for row in found]


def test_unhealthy_member_keeps_the_volume_it_was_last_healthy_with() -> None:
    known = [member(0), member(1)]
    states = json.dumps([state(10), state(26, leader=0)])
    now = {"db-0": "other", "db-1": "other"}

    found = members_of(listed(0, 1), states, "db", now, known=known)

    assert [row["volume"] for row in reported(found)] == ["other", "v1"]


def test_member_that_came_in_place_of_a_lost_one_is_not_replaced_again_and_again() -> None:
    # Seen first while the claim of the lost member still goes, then with a claim of its own.
    fresh = json.dumps({"members": [{"ID": 11, "peerURLs": ["http://db-1.x:2380"]}]})
    known = reported(members_of(fresh, "", "db", {"db-1": "that goes"}, known=members(2)))
    assert [row["volume"] for row in known] == [""]

    for before in (known, members(2)):
        (found,) = members_of(fresh, "", "db", {"db-1": "its own"}, known=before)
        assert not found["lost_volume"]


def test_volume_that_is_another_one_is_lost() -> None:
    for volume, is_lost in (("other", True), ("v1", False), ("", False)):
        (found,) = members_of(listed(1), "", "db", {"db-1": volume}, known=members(2))
        assert found["lost_volume"] is is_lost


def test_members_are_read_from_what_etcdctl_prints() -> None:
    printed = {
        "members": [
            {"ID": 2**63 + 11, "name": "db-1", "peerURLs": ["http://db-1.db-peer.ns.svc:2380"]},
            {"ID": 10, "name": "db-0", "peerURLs": ["http://db-0.db-peer.ns.svc:2380"]},
            {"ID": 12, "peerURLs": ["http://db-2.db-peer.ns.svc:2380"], "isLearner": True},
        ]
    }
    states = [{"Status": {"header": {"member_id": 10}, "leader": 10, "version": "3.6.16"}}]

    found = members_of(json.dumps(printed), json.dumps(states), "db", {"db-0": "v0"})

    assert [(m["name"], m["id"], m["healthy"], m["started"], m["learner"]) for m in found] == [
        ("db-0", "a", True, True, False),
        ("db-1", "800000000000000b", False, True, False),
        ("db-2", "c", False, False, True),
    ]
    assert found[0]["leader"]
    assert found[0]["volume"] == "v0"


@pytest.mark.parametrize("nothing", ["", "null", "[]"])
def test_members_are_listed_where_none_could_be_asked(nothing: str) -> None:
    assert [m["healthy"] for m in members_of(listed(0), nothing, "db", {})] == [False]


def state(number: int, **changes: Any) -> dict[str, Any]:
    found = {"header": {"member_id": number}, "leader": 10, "version": "3.6.16"}
    return {"Status": found | {"raftIndex": 1000, "raftAppliedIndex": 1000} | changes}


@pytest.mark.parametrize(
    ("changes", "is_healthy"),
    [
        ({}, True),
        ({"raftIndex": 600, "raftAppliedIndex": 600}, False),
        ({"raftIndex": 990, "raftAppliedIndex": 950}, True),
        ({"leader": 0}, False),
        ({"errors": ["etcdserver: no leader"]}, False),
        ({"errors": ["memberID:1 alarm:NOSPACE "]}, True),  # or a larger quota could never come
        ({"errors": ["memberID:1 alarm:NOSPACE ", "memberID:1 alarm:CORRUPT "]}, False),
    ],
)
def test_member_is_healthy_that_knows_a_leader_and_has_what_the_others_have(
    changes: dict[str, Any], is_healthy: bool
) -> None:
    rows = [
        {"ID": number, "name": f"db-{number - 10}", "peerURLs": ["http://x:2380"]}
        for number in (10, 11)
    ]
    states = json.dumps([state(10), state(11, **changes)])

    found = members_of(json.dumps({"members": rows}), states, "db", {})

    assert [one["healthy"] for one in found] == [True, is_healthy]


def test_members_of_a_healthy_cluster_are_known_without_listing_them() -> None:
    known = [{"name": f"db-{n}", "id": format(10 + n, "x")} for n in range(3)]
    states = json.dumps([state(number) for number in (10, 11, 12)])

    found = members_of("", states, "db", {}, known=known)

    assert [(m["name"], m["healthy"]) for m in found] == [(f"db-{n}", True) for n in range(3)]


def test_member_that_is_down_keeps_the_version_that_it_ran_last() -> None:
    found = members_of(listed(1), "", "db", {}, known=[member(1, version="3.7.1")])

    assert (found[0]["version"], reported(found)[0]["version"]) == ("", "3.7.1")


def test_file_of_a_member_is_read_with_its_quota_and_alarm() -> None:
    full = {"errors": ["memberID:10 alarm:NOSPACE "], "dbSizeQuota": 300}
    states = json.dumps([state(10, dbSize=200, dbSizeInUse=50, **full)])

    one, silent = members_of(listed(0, 1), states, "db", {})

    keys = ("size", "used", "unused_percent", "quota", "is_full")
    assert [one[key] for key in keys] == [200, 50, 75, 300, True]
    assert [silent[key] for key in keys] == [0, 0, 0, 0, False]


FOREIGN = ["backup", "db", "db-x", "db-01", "db--1", "10.0.0.7", "other-0", "db-1-more", "fd00::7"]


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_member_has_no_number_and_comes_last(name: str) -> None:
    rows = [{"ID": 1, "name": name}, {"ID": 2, "name": "db-11"}, {"ID": 3, "name": "db-2"}]
    found = members_of(json.dumps({"members": rows}), "", "db", {})
    assert [(one["name"], one["number"]) for one in found] == [
        ("db-2", 2),
        ("db-11", 11),
        (name, -1),
    ]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://10.0.0.7:2380", "10.0.0.7"),
        ("https://[fd00::7]:2380", "fd00::7"),
        ("https://db-3.db.space.svc:2380", "db-3"),
        ("https://elsewhere:2380", "elsewhere"),
    ],
)
def test_member_that_never_started_is_named_by_its_address(url: str, name: str) -> None:
    rows = [{"ID": 1, "name": "db-0"}, {"ID": 2, "peerURLs": [url]}, {"ID": 3, "name": "10"}]
    found = members_of(json.dumps({"members": rows}), "[]", "db", {})
    assert sorted(each["name"] for each in found) == sorted(["db-0", name, "10"])
    assert found[0]["name"] == "db-0"


def test_member_thousands_of_entries_behind_is_not_healthy_in_an_old_cluster() -> None:
    rows = [{"ID": n, "name": f"db-{n - 10}"} for n in (10, 11)]
    counts = {"raftIndex": 1_000_000, "raftAppliedIndex": 1_000_000}
    states = json.dumps([state(10, **counts), state(11, **counts | {"raftAppliedIndex": 940_000})])

    found = members_of(json.dumps({"members": rows}), states, "db", {})

    assert [one["healthy"] for one in found] == [True, False]


def pod(number: int, image: str = "etcd:v3.5.30", *, runs: bool = True) -> dict[str, Any]:
    state = {"running": {}} if runs else {"waiting": {"reason": "ImagePullBackOff"}}
    return {
        "metadata": {"name": f"db-{number}", "labels": {"controller-revision-hash": "old"}},
        "spec": {"containers": [{"name": "etcd", "image": image}]},
        "status": {
            "containerStatuses": [{"name": "etcd", "state": state}],
            "conditions": [{"type": "Ready", "status": str(runs)}],
        },
    }


SET = {"status": {"updateRevision": "new"}}


def test_pods_are_reported_by_their_template_and_their_member() -> None:
    going = pod(1, runs=False)
    going["metadata"] |= {"deletionTimestamp": "now", "labels": {"controller-revision-hash": "new"}}
    found = rows_of([pod(2), going], SET, [member(1, healthy=False), member(2, leader=True)], [])

    keys = ("name", "is_old", "is_going", "is_ready", "runs", "healthy", "leader", "is_alone")
    assert [tuple(row[key] for key in keys) for row in found] == [
        ("db-1", False, True, False, False, False, False, True),
        ("db-2", True, False, True, True, True, True, False),
    ]


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("etcd:v3.5.30", "3.5.30"),
        ("mirror.example.com:5000/a/etcd:v3.5.30", "3.5.30"),
        ("mirror.example.com/etcd:v3.5.30@sha256:0a", "3.5.30"),
        ("mirror.example.com:5000/etcd@sha256:0a", "3.5.9"),
    ],
)
def test_image_that_a_webhook_names_otherwise_has_the_version_of_its_tag_or_member(
    image: str, version: str
) -> None:
    last = [{"name": "db-0", "version": "3.5.9"}]
    assert rows_of([pod(0, image)], SET, [], last)[0]["version"] == version


def test_members_that_were_asked_one_by_one_say_how_far_they_got() -> None:
    found = alone(
        [
            {"item": "db-0", "stdout": json.dumps([state(1, raftTerm=3, raftIndex=7)])},
            {"item": "db-1", "msg": "timed out"},
            {"item": "db-2", "stdout": '[{"Status": {"header": {"member_id": 1}}}]'},
        ]
    )
    keys = ("name", "raftTerm", "raftIndex")
    assert [tuple(one[key] for key in keys) for one in found] == [("db-0", 3, 7), ("db-2", 0, 0)]


def test_volumes_that_were_exchanged_for_copies_are_the_members_once_a_person_says_so() -> None:
    copies = {f"db-{n}": f"copy-{n}" for n in range(2)}
    lost = loss(members(2), copies)
    assert (lost["kept"], lost["others"]) == ([], ["db-0", "db-1"])
    assert loss(lost["adopted"], copies)["kept"] == ["db-0", "db-1"]


def test_text_of_a_secret_is_empty_where_there_is_none() -> None:
    coded = {
        "password": base64.b64encode("pässword".encode()).decode(),
        "broken": "%",
        "bytes": "/w==",
    }
    assert text_of([{"data": coded}], "password") == "pässword"
    nothing: list[list[dict[str, Any]]] = [[], [{}], [{"data": None}], [{"data": coded}]]
    for found in nothing:
        assert text_of(found, "broken") == text_of(found, "bytes") == text_of(found, "other") == ""
