"""Kinds over time: which got slower since a moment, in words and in numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.trends_made import (
    DATABASE,
    LAYOUT,
    NOW,
    WEBSITE,
    made_trends,
)

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.kind_changes import kind_changes, moment_of, newest_median
from rolecall.extensions.console.page.trends import Interval, TrendSpan
from rolecall.extensions.console.page.views import KindsPage

NOON = NOW.replace(hour=12)
QUARTERS_SINCE_NOON = 16


def day(before_s: float, after_s: float, runs: int = 3, failed: int = 0) -> list[Interval]:
    before, after = (
        Interval(runs, failed, failed, median_s, median_s) for median_s in (before_s, after_s)
    )
    return [before] * (96 - QUARTERS_SINCE_NOON) + [after] * QUARTERS_SINCE_NOON


def words_of(by_kind: Any, moment: datetime = NOON, **more: Any) -> str:
    shown = KindsPage(made_trends(by_kind, TrendSpan.DAY, **more), moment, "")
    seen = Seen(views.kinds(shown, LAYOUT))
    assert seen.harm == []
    return " ".join("".join(seen.text).split())


def test_kind_that_got_slower_is_named_in_a_sentence() -> None:
    text = words_of({DATABASE: day(6.0, 6.1), WEBSITE: day(0.9, 2.43, failed=1)})
    assert "Website got 2.7 times slower: 0.90 s before 12:00 UTC, 2.4 s since." in text
    assert "No other kind changed by more than a fifth." in text
    assert text.index("Median duration of Website") < text.index("Median duration of Database")
    assert "240 runs, 80 failed" in text and "48 runs, 16 failed" in text


def test_kind_that_got_faster_is_named_too() -> None:
    text = words_of({WEBSITE: day(4.0, 1.0)})
    assert "No kind got slower since 12:00 UTC." in text
    assert "Website got 4.0 times faster" in text


def test_nothing_changed_says_so() -> None:
    text = words_of({WEBSITE: day(1.0, 1.0)})
    assert "No kind got slower since 12:00 UTC." in text
    assert "No kind changed by more than a fifth." in text


def test_kind_with_too_few_runs_is_named_as_such() -> None:
    rare = [Interval()] * 96
    rare[3] = rare[90] = Interval(2, 0, 0, 9.0, 9.0)
    text = words_of({DATABASE: rare, WEBSITE: day(1.0, 1.0)})
    assert "Too few runs to compare: Database." in text
    assert "It takes" not in text and "too few runs" in text
    assert "No kind had 5 runs before 12:00 UTC and 5 since" in words_of({DATABASE: rare})


@pytest.mark.parametrize("by_kind", [{}, {WEBSITE: ()}, {WEBSITE: [Interval()] * 96}])
def test_no_data_is_said(by_kind: Any) -> None:
    text = words_of(by_kind)
    assert (
        "No run ended in the last day." in text
        or "is known, so there is nothing to compare with" in text
    )


def test_whole_day_has_nothing_to_compare_with() -> None:
    text = words_of({WEBSITE: day(1.0, 2.0)}, NOW - timedelta(days=1))
    assert "there is nothing to compare with" in text


def test_short_history_says_since_when() -> None:
    text = words_of({WEBSITE: day(1.0, 2.0)}, since=NOW - timedelta(hours=7))
    assert "Runs are known since 2026-11-28 09:00:00 UTC" in text


def test_median_counts_each_interval_by_its_runs() -> None:
    few, many = Interval(1, 0, 0, 9.0, 9.0), Interval(10, 0, 0, 1.0, 1.0)
    change = kind_changes(made_trends({WEBSITE: [few, few, many]}), NOW)[0]
    assert (change.before.median_s, change.before.runs) == (1.0, 12)
    assert change.after.median_s is None and change.ratio == 1.0
    assert newest_median([few, many]) == 1.0
    assert newest_median([]) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1h", NOW - timedelta(hours=1)),
        ("24h", NOW - timedelta(days=1)),
        ("99h", NOW - timedelta(days=1)),
        ("12:00", NOON),
        ("17:30", NOW.replace(hour=17, minute=30) - timedelta(days=1)),
        ("2026-11-28T11:00:00.000Z", NOON - timedelta(hours=1)),
        ("2026-11-28T13:00:00+01:00", NOON),
        ("2026-11-28T12:00:00", NOON),
        ("2029-01-01T00:00:00Z", NOW),
        ("0001-01-01T00:00:00+14:00", NOW - timedelta(days=1)),
        ("25:00", NOW - timedelta(hours=1)),
        ("\u0661h", NOW - timedelta(hours=1)),
        ("<script>", NOW - timedelta(hours=1)),
        ("", NOW - timedelta(hours=1)),
    ],
)
def test_moment_of_an_address_is_within_the_day(text: str, moment: datetime) -> None:
    assert moment_of(text, NOW) == moment.astimezone(UTC)
