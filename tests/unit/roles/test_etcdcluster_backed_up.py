"""When the condition BackedUp says that somebody should look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

backed_up = role_filter("etcdcluster", "etcdcluster_backed_up", "etcdcluster_backed_up")

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z
GOOD = {"snapshot": "a.db", "time": "2023-11-14T03:00:10Z"}
ENDED = {"lastBackup": {"result": "Succeeded"}, "lastGoodBackup": GOOD}
FAILED = {"lastBackup": {"result": "Failed", "message": "no bucket"}, "lastGoodBackup": GOOD}
BEGAN, DONE = "lastScheduleTime", "lastSuccessfulTime"
OVERDUE = ("False", "BackupOverdue")


@pytest.mark.parametrize(
    ("schedule", "told", "status", "reason"),
    [
        ({}, {}, "Unknown", "NotYet"),
        ({BEGAN: "2023-11-14T03:00:00Z", DONE: "2023-11-14T03:00:10Z"}, ENDED, "True", "BackedUp"),
        ({BEGAN: "2023-11-14T22:00:00Z", DONE: "2023-11-14T03:00:10Z"}, ENDED, "True", "BackedUp"),
        (
            {BEGAN: "2023-11-14T21:00:00Z", DONE: "2023-11-14T03:00:10Z"},
            ENDED,
            "False",
            "BackupOverdue",
        ),
        ({BEGAN: "2023-11-14T21:00:00Z"}, {}, *OVERDUE),
        ({BEGAN: "2023-11-14T22:00:00Z"}, FAILED, "False", "BackupFailed"),
    ],
)
def test_backup_that_failed_or_does_not_end_is_told(
    schedule: dict[str, Any], told: dict[str, Any], status: str, reason: str
) -> None:
    (found,) = backed_up([{"status": schedule}], told, NOW)
    assert (found["type"], found["status"], found["reason"]) == ("BackedUp", status, reason)
    assert found["message"]


def test_cluster_without_a_schedule_has_no_such_condition_until_it_had_one() -> None:
    assert backed_up([], {}, NOW) == []
    assert [row["status"] for row in backed_up([], FAILED, NOW)] == ["Unknown"]
