"""Which pods a PodSet keeps, removes and creates."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter
from tests.unit.roles.pods import CR, NOW, PRESENT, Json, pod, wish

plan = role_filter("podset", "podset_plan")


def step(
    pods: list[Json],
    replicas: int,
    *,
    status: Json | None = None,
    now: str = NOW,
    everybody: list[Json] | None = None,
    **strategy: Any,
) -> dict[str, list[str]]:
    """The plan with names for pods."""
    made = plan(
        pods, {**CR, "status": status or {}}, wish(replicas, **strategy), now, everybody or []
    )
    parts = ("keep", "create", "remove", "mark")
    return {part: [one["metadata"]["name"] for one in made[part]] for part in parts}


def test_missing_pods_get_the_lowest_free_numbers() -> None:
    assert step([pod("web-1")], 3)["create"] == ["web-0", "web-2"]


def test_new_pod_has_the_template_our_labels_and_its_owner() -> None:
    created = plan([], CR, wish(1), NOW)["create"][0]

    assert created["spec"] == PRESENT["spec"]
    assert created["metadata"]["labels"] == pod("web-0")["metadata"]["labels"] | {"app": "web"}
    assert created["metadata"]["ownerReferences"][0]["uid"] == CR["metadata"]["uid"]


def test_name_of_a_pod_that_is_still_going_is_not_used_again() -> None:
    assert step([pod("web-0", going=True)], 1)["create"] == ["web-1"]


def test_name_of_a_pod_that_belongs_to_somebody_else_is_left_to_it() -> None:
    others = [pod(name, uid="other") for name in ("web-0", "web-2", "db-0")]

    assert step([pod("web-1")], 3, everybody=others)["create"] == ["web-3", "web-4"]


def test_uid_in_an_annotation_makes_no_pod_ours() -> None:
    theirs = pod("web-0", uid="other")
    theirs["metadata"]["annotations"] = {"note": CR["metadata"]["uid"]}

    assert step([], 1, everybody=[theirs])["create"] == ["web-1"]


def test_pod_of_ours_that_lost_its_label_is_marked_and_its_spec_left_alone() -> None:
    lost = pod("web-0")
    del lost["metadata"]["labels"]
    lost["metadata"]["ownerReferences"] = [{"uid": CR["metadata"]["uid"]}]

    assert step([], 1, everybody=[lost]) == {
        "keep": ["web-0"],
        "create": [],
        "remove": [],
        "mark": ["web-0"],
    }
    assert "spec" not in plan([], CR, wish(1), NOW, [lost])["mark"][0]


def test_pod_of_ours_that_lost_its_owner_gets_it_back() -> None:
    lost = pod("web-0")
    lost["metadata"]["ownerReferences"] = [{"uid": "another", "name": "watcher"}]

    (mark,) = plan([lost], CR, wish(1), NOW)["mark"]

    created = plan([], CR, wish(1), NOW)["create"][0]
    assert mark["metadata"]["ownerReferences"] == created["metadata"]["ownerReferences"]
    assert mark["metadata"]["labels"] == lost["metadata"]["labels"]


def test_pod_that_another_controller_took_is_not_claimed() -> None:
    taken = pod("web-0")
    taken["metadata"]["ownerReferences"] = [{"uid": "another", "controller": True}]

    assert step([taken], 1) == {"keep": ["web-0"], "create": [], "remove": [], "mark": []}


def test_surplus_takes_pods_that_are_not_ready_before_ready_ones() -> None:
    pods = [pod("web-0", ready=False, created="01"), pod("web-1", created="02")]

    assert step(pods, 1)["remove"] == ["web-0"]


def test_surplus_takes_the_newest_of_equally_ready_pods() -> None:
    pods = [pod("web-0", created="01"), pod("web-1", created="03"), pod("web-2", created="02")]

    assert step(pods, 1)["remove"] == ["web-2", "web-1"]


def test_nothing_is_to_do_where_the_number_is_right() -> None:
    made = step([pod("web-0"), pod("web-1", ready=False)], 2)

    assert made == {"keep": ["web-0", "web-1"], "create": [], "remove": [], "mark": []}


def test_pod_without_a_status_counts_as_alive() -> None:
    fresh = pod("web-0")
    del fresh["status"]

    assert step([fresh], 1)["keep"] == ["web-0"]


def test_pods_stay_as_they_are_where_no_strategy_says_otherwise() -> None:
    assert step([pod("web-0", template="older")], 1)["remove"] == []


def test_one_pod_of_another_template_is_replaced_at_a_time() -> None:
    pods = [pod(f"web-{number}", template="older") for number in range(3)]
    made = step(pods, 3, type="RollingUpdate")

    assert (made["remove"], made["create"]) == (["web-0"], ["web-3"])


def test_next_one_is_replaced_only_once_all_are_ready_for_some_time() -> None:
    pods = [pod("web-3", ready=False, created="30"), pod("web-1", template="older")]
    rolling: Json = {"type": "RollingUpdate", "minReadySeconds": 10}
    assert step(pods, 2, **rolling)["remove"] == []

    pods[0] = pod("web-3", created="30")  # ready since then
    assert step(pods, 2, now="2026-01-01T00:00:35Z", **rolling)["remove"] == []
    assert step(pods, 2, now="2026-01-01T00:00:40Z", **rolling)["remove"] == ["web-1"]


def test_pod_of_another_template_that_serves_nobody_is_replaced_at_once() -> None:
    pods = [pod("web-0", template="older", ready=False), pod("web-1", template="older")]

    assert step(pods, 2, type="RollingUpdate")["remove"] == ["web-0"]


def test_pods_that_are_not_ready_are_replaced_no_faster_than_max_unavailable_says() -> None:
    unready = [pod(f"web-{number}", template="older", ready=False) for number in range(4)]
    pods = [*unready, pod("web-4", template="older")]
    assert step(pods, 5, type="RollingUpdate")["remove"] == ["web-0"]
    assert step(pods, 5, type="RollingUpdate", maxUnavailable=2)["remove"] == ["web-0", "web-1"]

    fresh = pod("web-5", ready=False)
    assert step([*pods[1:], fresh], 5, type="RollingUpdate")["remove"] == []


def test_surge_makes_new_pods_before_old_ones_go() -> None:
    old = [pod(f"web-{number}", template="older") for number in range(3)]
    careful: Json = {"type": "RollingUpdate", "maxUnavailable": 0, "maxSurge": 1}
    made = step(old, 3, **careful)
    assert (made["create"], made["remove"]) == (["web-3"], [])

    made = step([*old, pod("web-3", ready=False)], 3, **careful)
    assert (made["create"], made["remove"]) == ([], [])
    made = step([*old, pod("web-3")], 3, **careful)
    assert (made["create"], made["remove"]) == (["web-4"], ["web-0"])

    done = [pod(f"web-{number}") for number in range(4)]
    assert len(step(done, 3, **careful)["remove"]) == 1


def test_partition_keeps_pods_of_the_old_template() -> None:
    old = [pod(f"web-{number}", template="older") for number in range(3)]
    some: Json = {"type": "RollingUpdate", "maxUnavailable": 3, "partition": 2}
    assert step(old, 3, **some)["remove"] == ["web-0"]
    assert step([pod("web-3"), *old[1:]], 3, **some)["remove"] == []


def test_pause_replaces_nothing_and_still_scales() -> None:
    old = [pod(f"web-{number}", template="older") for number in range(2)]
    paused: Json = {"type": "RollingUpdate", "maxSurge": 1, "paused": True}
    made = step(old, 2, **paused)
    assert (made["create"], made["remove"]) == ([], [])
    assert step(old, 3, **paused)["create"] == ["web-2"]


def test_what_a_webhook_made_of_a_pod_replaces_nothing() -> None:
    mutated = pod("web-0")
    mutated["spec"] = {"containers": [{"name": "app", "image": "mirror/app"}, {"name": "sidecar"}]}

    assert step([mutated], 1, type="RollingUpdate")["remove"] == []


def test_pod_that_was_made_before_there_were_marks_counts_as_present_and_is_marked() -> None:
    made = step([pod("web-0", template="")], 1, type="RollingUpdate")

    assert (made["remove"], made["mark"]) == ([], ["web-0"])


def test_rollout_waits_while_a_pod_of_the_new_template_has_ended_lately() -> None:
    pods = [
        pod("web-3", phase="Failed"),
        pod("web-4", created="20"),
        pod("web-1", template="older"),
    ]
    status = {"podNames": ["web-3", "web-1"], "failures": 1, "lastFailureTime": NOW}

    assert step(pods, 2, status=status, type="RollingUpdate")["remove"] == []
