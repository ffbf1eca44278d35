"""Which member's file is made smaller, which claims grow, and how etcd is started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

arguments = role_filter("etcdcluster", "etcdcluster_care_arguments", "etcdcluster_care")
fragmented = role_filter("etcdcluster", "etcdcluster_fragmented", "etcdcluster_care")

MI = 1024**2


def member(number: int, **changes: Any) -> dict[str, Any]:
    known = {"name": f"db-{number}", "id": format(number + 10, "x"), "healthy": True}
    return known | {"learner": False, "leader": number == 0} | changes


def status(*sizes: tuple[int, int]) -> str:
    return json.dumps(
        [
            {
                "Status": {
                    "header": {"member_id": number + 10},
                    "dbSize": size * MI,
                    "dbSizeInUse": used * MI,
                }
            }
            for number, (size, used) in enumerate(sizes)
        ]
    )


THREE = [member(0), member(1), member(2)]


def test_leader_is_the_last_whose_file_is_made_smaller() -> None:
    assert fragmented(THREE, status((200, 10), (200, 10), (200, 10)), 50, 100 * MI) == {
        "name": "db-1",
        "size": 200 * MI,
        "unused": 190 * MI,
    }
    assert fragmented(THREE, status((200, 10), (12, 10), (12, 10)), 50, 100 * MI)["name"] == "db-0"


@pytest.mark.parametrize(
    ("members", "sizes", "above"),
    [
        (THREE, (200, 100), 50),  # just half
        (THREE, (99, 1), 50),  # too small to be worth it
        (THREE, (200, 10), 0),  # not asked for
        ([member(0), member(1, healthy=False)], (200, 10), 50),
        ([member(0), member(1, learner=True)], (200, 10), 50),
        ([], (200, 10), 50),
    ],
)
def test_no_file_is_made_smaller_without_need_or_while_a_member_is_missed(
    members: list[dict[str, Any]], sizes: tuple[int, int], above: int
) -> None:
    assert fragmented(members, status(sizes, sizes, sizes), above, 100 * MI) == {}


def test_nobody_reached_means_nothing_to_do() -> None:
    assert fragmented(THREE, "", 50, 100 * MI) == {}
    assert fragmented(THREE, "null", 50, 100 * MI) == {}


def test_etcd_is_started_as_before_where_nothing_is_asked_for() -> None:
    assert arguments(0, {}) == []
    assert arguments(64 * MI, {"mode": "periodic", "retention": "8h"}) == [
        "--quota-backend-bytes=67108864",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=8h",
    ]
