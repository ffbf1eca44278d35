"""Which pods a PodSet keeps, removes and creates."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter

plan = role_filter("podset", "podset_plan")


def pod(
    name: str,
    *,
    ready: bool = True,
    phase: str = "Running",
    created: str = "01",
    going: bool = False,
) -> dict[str, Any]:
    metadata = {"name": name, "creationTimestamp": f"2026-01-01T00:00:{created}Z"}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    condition = {"type": "Ready", "status": str(ready)}
    return {"metadata": metadata, "status": {"phase": phase, "conditions": [condition]}}


def test_missing_pods_get_the_lowest_free_numbers() -> None:
    assert plan([pod("web-1")], "web", 3)["create"] == ["web-0", "web-2"]


def test_name_of_a_pod_that_is_still_going_is_not_used_again() -> None:
    assert plan([pod("web-0", going=True)], "web", 1)["create"] == ["web-1"]


def test_name_of_a_pod_that_belongs_to_somebody_else_is_left_to_it() -> None:
    assert plan([pod("web-1")], "web", 3, ["web-0", "web-2", "db-0"])["create"] == [
        "web-3",
        "web-4",
    ]


def test_failed_and_succeeded_pods_are_replaced() -> None:
    step = plan([pod("web-0", phase="Failed"), pod("web-1", phase="Succeeded")], "web", 2)

    assert sorted(step["remove"]) == ["web-0", "web-1"]
    assert step["create"] == ["web-2", "web-3"]


def test_surplus_takes_pods_that_are_not_ready_before_ready_ones() -> None:
    pods = [pod("web-0", ready=False, created="01"), pod("web-1", created="02")]

    assert plan(pods, "web", 1)["remove"] == ["web-0"]


def test_surplus_takes_the_newest_of_equally_ready_pods() -> None:
    pods = [pod("web-0", created="01"), pod("web-1", created="03"), pod("web-2", created="02")]

    assert plan(pods, "web", 1)["remove"] == ["web-2", "web-1"]


def test_nothing_is_to_do_where_the_number_is_right() -> None:
    step = plan([pod("web-0"), pod("web-1", ready=False)], "web", 2)

    assert step == {"keep": ["web-0", "web-1"], "ready": 1, "remove": [], "create": []}


def test_pod_without_a_status_counts_as_alive_and_not_ready() -> None:
    fresh = {"metadata": {"name": "web-0", "creationTimestamp": "2026-01-01T00:00:00Z"}}

    assert plan([fresh], "web", 1) == {"keep": ["web-0"], "ready": 0, "remove": [], "create": []}
