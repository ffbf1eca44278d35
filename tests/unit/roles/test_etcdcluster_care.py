"""Which member's file is made smaller, which claims grow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

space = role_filter("etcdcluster", "etcdcluster_space", "etcdcluster_care")
fragmented = role_filter("etcdcluster", "etcdcluster_fragmented", "etcdcluster_care")

MI = 1024**2


def member(number: int, **changes: Any) -> dict[str, Any]:
    known = {"name": f"db-{number}", "id": format(number + 10, "x"), "healthy": True}
    return known | {"learner": False, "leader": number == 0} | changes


def status(*sizes: tuple[int, int], alarm: bool = False, **more: int) -> str:
    return json.dumps(
        [
            {
                "Status": {
                    "header": {"member_id": number + 10},
                    "dbSize": size * MI,
                    "dbSizeInUse": used * MI,
                    "errors": ["memberID:10 alarm:NOSPACE "] if alarm else [],
                }
                | more
            }
            for number, (size, used) in enumerate(sizes)
        ]
    )


NO_ALARM = {"full": False, "limit": 0}
THREE = [member(0), member(1), member(2)]


def test_leader_is_the_last_whose_file_is_made_smaller() -> None:
    assert fragmented(THREE, status((200, 10), (200, 10), (200, 10)), 50, 100 * MI, NO_ALARM) == {
        "name": "db-1",
        "size": 200 * MI,
        "unused": 190 * MI,
        "successor": "",
    }
    leader = fragmented(THREE, status((200, 10), (12, 10), (12, 10)), 50, 100 * MI, NO_ALARM)
    assert (leader["name"], leader["successor"]) == ("db-0", "b"), "another one leads first"
    alone = fragmented([member(0)], status((200, 10)), 50, 100 * MI, NO_ALARM)
    assert (alone["name"], alone["successor"]) == ("db-0", "")


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
    assert fragmented(members, status(sizes, sizes, sizes), above, 100 * MI, NO_ALARM) == {}


FULL = {"full": True, "limit": 90 * MI}


def test_full_database_is_made_smaller_wherever_that_makes_room() -> None:
    sizes = ((100, 60), (100, 60), (80, 60))
    assert fragmented(THREE, status(*sizes), 50, 100 * MI, NO_ALARM) == {}, "40 percent is unused"
    assert fragmented(THREE, status(*sizes), 50, 100 * MI, FULL)["name"] == "db-1"
    assert fragmented(THREE, status(*sizes), 0, 100 * MI, FULL) == {}, "never, as spec says"
    used = ((100, 95), (100, 95), (100, 95))
    assert fragmented(THREE, status(*used), 50, 100 * MI, FULL) == {}, "it would make no room"


@pytest.mark.parametrize(
    ("sizes", "asked", "told", "roomy"),
    [
        ((100, 20, 20), 100, 0, False),  # one is not made smaller yet
        ((89, 20, 20), 100, 0, True),
        ((91, 20, 20), 100, 0, False),  # the next writes would fill it
        ((91, 20, 20), 200, 0, True),  # the quota was raised
        ((91, 20, 20), 200, 100, False),  # a member says that it runs with the old one
    ],
)
def test_writes_are_taken_again_only_below_the_quota(
    sizes: tuple[int, ...], asked: int, told: int, roomy: bool
) -> None:
    text = status(*((size, 1) for size in sizes), alarm=True, dbSizeQuota=told * MI)
    found = space(text, asked * MI)
    assert (found["full"], found["roomy"]) == (True, roomy)


def test_nothing_is_full_without_the_alarm_or_without_an_answer() -> None:
    assert not space(status((200, 1)), 100 * MI)["full"]
    assert space("", 100 * MI)["full"] is space("null", 0)["full"] is False


def test_nobody_reached_means_nothing_to_do() -> None:
    assert fragmented(THREE, "", 50, 100 * MI, NO_ALARM) == {}
    assert fragmented(THREE, "null", 50, 100 * MI, NO_ALARM) == {}
