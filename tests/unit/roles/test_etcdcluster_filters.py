"""Who is a member of an etcd cluster, and what the next step is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

members_of = role_filter("etcdcluster", "etcdcluster_members")
step = role_filter("etcdcluster", "etcdcluster_step")
list_as_told = role_filter("etcdcluster", "etcdcluster_list_as_told")
told = role_filter("etcdcluster", "etcdcluster_told")
version_of = role_filter("etcdcluster", "etcdcluster_version_of")


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


def next_step(
    found: list[dict[str, Any]], pods: int, wanted: int, known: Any = ()
) -> tuple[str, str]:
    taken = step(found, "db", pods, wanted, list(known))
    return taken["do"], taken["member"].get("name", "")


def test_healthy_cluster_of_the_wanted_size_needs_nothing() -> None:
    assert next_step(members(3), 3, 3) == ("nothing", "")


def test_growth_adds_one_member_to_etcd_before_its_pod_is_there() -> None:
    assert next_step(members(3), 3, 5) == ("add", "db-3")


def test_added_member_gets_its_pod_then_is_waited_for_then_may_vote() -> None:
    fresh = member(3, started=False, healthy=False, learner=True)

    assert next_step([*members(3), fresh], 3, 5) == ("grow", "db-3")
    assert next_step([*members(3), fresh], 4, 5) == ("wait", "db-3")
    assert next_step([*members(3), member(3, learner=True)], 4, 5) == ("promote", "db-3")


def test_shrinking_takes_the_member_out_of_etcd_before_its_pod_goes() -> None:
    assert next_step(members(5), 5, 3) == ("remove", "db-4")
    assert next_step(members(4), 5, 3) == ("shrink", "db-4")


def test_nothing_is_resized_while_a_member_is_not_healthy() -> None:
    found = [member(0), member(1, healthy=False), member(2)]

    assert next_step(found, 3, 5) == ("wait", "db-1")
    found = [member(0, healthy=False), member(1), member(2)]
    assert next_step(found, 3, 1) == ("wait", "db-0")


def test_member_that_answers_without_a_leader_is_not_told_as_the_one_that_is_down() -> None:
    leaderless, down = member(0, healthy=False), member(1, healthy=False, version="")

    assert next_step([leaderless, down, member(2)], 3, 3) == ("wait", "db-1")


def test_member_whose_volume_was_lost_is_removed_and_then_added_anew() -> None:
    known = members(3)
    found = [member(0), member(1, healthy=False, volume="other"), member(2)]

    assert next_step(found, 3, 3, known) == ("remove", "db-1")
    assert next_step([member(0), member(2)], 3, 3, known) == ("add", "db-1")


def test_lost_volume_waits_until_all_others_are_healthy() -> None:
    found = [member(0, healthy=False), member(1, healthy=False, volume="other"), member(2)]

    assert next_step(found, 3, 3, members(3)) == ("wait", "db-0")


def test_unhealthy_member_keeps_the_volume_it_was_last_healthy_with() -> None:
    found = [member(0), member(1, healthy=False, volume="other")]

    assert [row["volume"] for row in told(found, members(2))] == ["v0", "v1"]


def test_member_that_came_in_place_of_a_lost_one_is_not_replaced_again_and_again() -> None:
    # Seen first while the claim of the lost member still goes, then with a claim of its own.
    fresh = {"id": "b", "started": False, "healthy": False, "learner": True}
    known = told([member(0), member(1, **fresh, volume="that goes"), member(2)], members(3))

    assert [row["volume"] for row in known] == ["v0", "", "v2"]
    for now in ({"started": False}, {"started": True}):
        found = [member(0), member(1, **fresh | now, volume="its own"), member(2)]
        assert next_step(found, 3, 3, known) == ("wait", "db-1")
        assert next_step(found, 3, 3, members(3)) == ("wait", "db-1")


def test_members_are_read_from_what_etcdctl_prints() -> None:
    listed = {
        "members": [
            {"ID": 2**63 + 11, "name": "db-1", "peerURLs": ["http://db-1.db-peer.ns.svc:2380"]},
            {"ID": 10, "name": "db-0", "peerURLs": ["http://db-0.db-peer.ns.svc:2380"]},
            {"ID": 12, "peerURLs": ["http://db-2.db-peer.ns.svc:2380"], "isLearner": True},
        ]
    }
    states = [{"Status": {"header": {"member_id": 10}, "leader": 10, "version": "3.6.16"}}]

    found = members_of(json.dumps(listed), json.dumps(states), "db", {"db-0": "v0"})

    assert [(m["name"], m["id"], m["healthy"], m["started"], m["learner"]) for m in found] == [
        ("db-0", "a", True, True, False),
        ("db-1", "800000000000000b", False, True, False),
        ("db-2", "c", False, False, True),
    ]
    assert found[0]["leader"]
    assert found[0]["volume"] == "v0"


@pytest.mark.parametrize("nothing", ["", "null", "[]"])
def test_members_are_listed_where_none_could_be_asked(nothing: str) -> None:
    listed = {"members": [{"ID": 1, "name": "db-0", "peerURLs": ["http://db-0.x:2380"]}]}

    assert [m["healthy"] for m in members_of(json.dumps(listed), nothing, "db", {})] == [False]


def test_version_of_a_cluster_is_the_lowest_and_not_the_first_in_the_alphabet() -> None:
    found = [member(0, version="3.10.0"), member(1, version="3.9.1"), member(2, version="")]

    assert version_of(found) == "3.9.1"


def test_member_that_goes_for_its_lost_volume_is_told_from_one_that_goes_for_scaling() -> None:
    found = [*members(2), member(2, healthy=False, volume="new")]
    known = [{"name": "db-2", "id": "2a", "volume": "old"}]

    assert step(found, "db", 3, 3, known)["lost"]
    assert "lost" not in step(members(5), "db", 5, 3, [])


def test_growth_is_taken_back_while_the_new_member_cannot_start() -> None:
    fresh = member(3, started=False, healthy=False, learner=True)

    assert next_step([*members(3), fresh], 4, 3) == ("remove", "db-3")
    assert next_step(members(3), 4, 3) == ("shrink", "db-3")


def test_learner_that_is_not_wanted_any_more_goes_without_a_vote() -> None:
    for healthy in (True, False):
        learner = member(3, learner=True, healthy=healthy)
        assert next_step([*members(3), learner], 4, 3) == ("remove", "db-3")


def test_member_that_is_down_and_goes_anyway_is_removed_only_while_all_others_are_well() -> None:
    down = member(4, healthy=False)

    assert next_step([*members(4), down], 5, 3) == ("remove", "db-4")
    sick = [member(0), member(1, healthy=False), member(2), member(3), down]
    assert next_step(sick, 5, 3) == ("wait", "db-1")
    assert next_step([member(2, healthy=False)], 3, 1) == ("wait", "db-2"), "never the last one"


def test_pod_of_a_member_is_never_taken_for_one_too_many() -> None:
    only_high = [member(2)]

    assert next_step(only_high, 3, 3) == ("add", "db-0")
    assert next_step([member(0), member(2)], 3, 1) == ("remove", "db-2")


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


SAID = {
    "members": [{"name": f"db-{n}", "id": format(10 + n, "x")} for n in range(3)],
    "conditions": [{"type": "Ready", "status": "True", "reason": "Healthy"}],
}


def test_members_of_a_healthy_cluster_are_known_without_listing_them() -> None:
    states = json.dumps([state(number) for number in (10, 11, 12)])

    listed = list_as_told(states, SAID, 3)

    assert [m["name"] for m in members_of(listed, states, "db", {})] == ["db-0", "db-1", "db-2"]


@pytest.mark.parametrize(
    ("answering", "said", "wanted"),
    [
        ((10, 11), SAID, 3),
        ((10, 11, 13), SAID, 3),
        ((10, 11, 12), SAID, 5),
        ((10, 11, 12), SAID | {"conditions": []}, 3),
        ((), {}, 3),
    ],
)
def test_members_are_listed_whenever_they_may_have_changed(
    answering: tuple[int, ...], said: dict[str, Any], wanted: int
) -> None:
    states = json.dumps([state(number) for number in answering])

    assert list_as_told(states, said, wanted) == ""


def test_member_that_is_down_keeps_the_version_that_it_ran_last() -> None:
    before = [member(0, version="3.7.1")]

    assert told([member(0, version="", healthy=False)], before)[0]["version"] == "3.7.1"


FOREIGN = ["backup", "db", "db-x", "db-01", "db--1", "10.0.0.7", "other-0", "db-1-more", "fd00::7"]


def foreign(name: str, **changes: Any) -> dict[str, Any]:
    return member(9, **{"name": name, "leader": False, "volume": "", **changes})


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_member_is_left_alone(name: str) -> None:
    found = [*members(3), foreign(name)]
    assert next_step(found, 3, 3) == ("nothing", "")
    assert next_step([*members(5), foreign(name)], 5, 3) == ("remove", "db-4")
    assert next_step(found, 3, 5) == ("add", "db-3")
    for state in ({"started": False, "healthy": False, "learner": True}, {"learner": True}):
        assert next_step([*members(3), foreign(name, **state)], 3, 3) == ("nothing", "")


@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_is_resized_while_a_foreign_member_is_not_healthy(name: str) -> None:
    for state in ({"healthy": False}, {"healthy": False, "started": False}):
        assert next_step([*members(3), foreign(name, **state)], 3, 5) == ("wait", name)


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
