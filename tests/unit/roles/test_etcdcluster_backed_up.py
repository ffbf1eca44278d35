"""When a schedule of backups was due last."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.unit.roles.filters import role_filter

due = role_filter("etcdcluster", "etcdcluster_due", "etcdcluster_backup")

NOW = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC).timestamp()  # a Tuesday


@pytest.mark.parametrize(
    ("schedule", "moment"),
    [
        ("0 3 * * *", "2023-11-14T03:00:00Z"),
        ("30 22 * * *", "2023-11-13T22:30:00Z"),
        ("*/5 * * * *", "2023-11-14T22:10:00Z"),
        ("13/20 0-6,22 ? NOV-dec TUE", "2023-11-14T22:13:00Z"),
        ("0 0 1 1 *", "2023-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2020-02-29T00:00:00Z"),
        ("0 0 13 * SUN", "2023-11-13T00:00:00Z"),  # either is enough
        ("0 0 */2 * MON", "2023-11-13T00:00:00Z"),  # with a star, both must fit
        ("0 3 31 2 *", ""),
    ],
)
def test_last_moment_of_a_schedule_is_found_as_cron_finds_it(schedule: str, moment: str) -> None:
    assert due(schedule, NOW) == moment
