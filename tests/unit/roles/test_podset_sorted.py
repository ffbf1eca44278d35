"""How the pods of a PodSet are sorted, of which its rule tables decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.roles.filters import role_filter
from tests.unit.roles.pods import CR, NOW, PRESENT, Json, pod

podset_sorted = role_filter("podset", "podset_sorted")
podset_named = role_filter("podset", "podset_named")


def sorted_pods(
    pods: Sequence[Json],
    others: Sequence[Json] = (),
    *,
    status: Json | None = None,
    patience: int = 0,
) -> Json:
    limits = {"now": NOW, "template": PRESENT, "available": patience, "young": 60}
    found: Json = podset_sorted(pods, others, CR | {"status": status or {}}, limits)
    return found


def ended(name: str, finished: str, *, created: str = "00:01", template: str = PRESENT) -> Json:
    found = pod(name, phase="Failed", ready=False, created=created, template=template)
    terminated = {"exitCode": 1, "finishedAt": f"2026-01-01T00:{finished}Z"}
    found["status"]["containerStatuses"] = [
        {"name": "sidecar", "state": {"running": {}}},
        {"name": "app", "state": {"terminated": terminated}},
    ]
    return found


def test_ready_pods_are_kept_first_then_those_of_the_present_template_then_the_older() -> None:
    found = sorted_pods(
        [
            pod("web-0", ready=False, template="older", created="00:01"),
            pod("web-1", ready=False, created="00:02"),
            pod("web-2", template="older", created="00:03"),
            pod("web-3", created="00:05"),
            pod("web-4", created="00:04"),
        ]
    )

    assert found["alive"] == ["web-4", "web-3", "web-2", "web-1", "web-0"]
    assert found["ready"] == ["web-4", "web-3", "web-2"]
    assert (found["serving"], found["idle"]) == (["web-2"], ["web-0"])


def test_pod_without_a_status_is_alive_and_not_ready() -> None:
    fresh = pod("web-0")
    del fresh["status"]

    found = sorted_pods([fresh])
    assert (found["alive"], found["ready"], found["ended"]) == (["web-0"], [], [])


def test_pod_is_available_once_it_was_ready_for_long_enough() -> None:
    pods = [pod("web-0", created="09:51"), pod("web-1", created="09:50")]

    assert sorted_pods(pods, patience=10)["available"] == ["web-1"]
    assert sorted_pods(pods)["available"] == ["web-1", "web-0"]


def test_ready_pod_without_a_time_is_available() -> None:
    found = pod("web-0")
    del found["status"]["conditions"][0]["lastTransitionTime"]

    assert sorted_pods([found], patience=3600)["available"] == ["web-0"]


def test_pod_is_young_for_its_first_minute() -> None:
    pods = [pod("web-0", created="09:00"), pod("web-1", created="09:01")]

    assert sorted_pods(pods)["young"] == ["web-1"]


def test_pod_that_is_going_keeps_its_number_and_is_not_alive() -> None:
    found = sorted_pods([pod("web-0", going=True)])

    assert (found["alive"], found["ended"], found["taken"]) == ([], [], [0])


def test_number_is_taken_by_exactly_its_own_name() -> None:
    names = ("web-0", "web-2", "web-12", "web-01", "web-x", "web-²", "web-", "db-0", "web")
    others = [pod(name, uid="other") for name in names]

    found = sorted_pods([pod("web-1")], others)
    assert (found["taken"], found["alive"]) == ([1, 0, 2, 12], ["web-1"])


def test_uid_in_an_annotation_makes_no_pod_ours() -> None:
    theirs = pod("web-0", uid="other")
    theirs["metadata"]["annotations"] = {"note": CR["metadata"]["uid"]}

    assert sorted_pods([], [theirs])["alive"] == []


def test_pod_of_ours_that_lost_its_labels_is_marked_as_of_the_present_template() -> None:
    lost = pod("web-0")
    del lost["metadata"]["labels"]
    lost["metadata"]["ownerReferences"] = [{"uid": CR["metadata"]["uid"]}]

    found = sorted_pods([], [lost])
    assert (found["alive"], found["idle"], found["serving"]) == (["web-0"], [], [])
    assert found["unmarked"] == [{"name": "web-0", "template": PRESENT, "owner": False}]


def test_mark_of_another_template_stays() -> None:
    lost = pod("web-0", template="older")
    del lost["metadata"]["labels"]["apps.rolecall.dev/podset"]

    assert sorted_pods([], [lost])["unmarked"][0]["template"] == "older"


@pytest.mark.parametrize(
    ("owners", "unmarked"),
    [
        (
            [{"uid": "another", "name": "watcher"}],
            [{"name": "web-0", "template": PRESENT, "owner": True}],
        ),
        ([{"uid": "another", "controller": True}], []),
        ([{"uid": "u-1"}], []),
    ],
)
def test_pod_of_ours_gets_its_owner_back_unless_another_controller_has_it(
    owners: list[Json], unmarked: list[Json]
) -> None:
    lost = pod("web-0")
    lost["metadata"]["ownerReferences"] = owners

    assert sorted_pods([lost])["unmarked"] == unmarked


def test_pods_that_ended_are_in_the_order_of_their_ends() -> None:
    pods = [ended("web-0", "01:01"), ended("web-1", "01:03"), ended("web-2", "01:02")]
    pods.append(pod("web-3", phase="Succeeded", ready=False))

    found = sorted_pods(pods)
    assert found["ended"] == ["web-3", "web-0", "web-2", "web-1"]
    assert (found["last"]["name"], found["last"]["outdated"]) == ("web-1", False)
    assert found["last"]["status"] == pods[1]["status"]
    assert found["alive"] == []


def test_last_pod_that_ended_may_be_of_another_template() -> None:
    assert sorted_pods([ended("web-0", "01:01", template="older")])["last"]["outdated"]


def test_news_are_pods_that_the_status_names_and_that_ended() -> None:
    pods = [ended("web-0", "01:00", created="00:07"), ended("web-1", "01:01"), pod("web-2")]

    found = sorted_pods(pods, status={"podNames": ["web-0", "web-2"]})
    assert found["news"] == ["2026-01-01T00:00:07Z"]


def test_quiet_is_the_time_since_pods_ended_last() -> None:
    assert sorted_pods([], status={"lastFailureTime": "2026-01-01T00:09:18Z"})["quiet"] == 42
    assert sorted_pods([])["quiet"] > 1e9


def test_named_pods_come_in_the_order_of_all() -> None:
    pods = [pod(f"web-{number}") for number in range(3)]

    found = podset_named(["web-2", "web-1", "web-0"], ["web-0", "web-2", "gone"], pods)
    assert [one["metadata"]["name"] for one in found] == ["web-2", "web-0"]
