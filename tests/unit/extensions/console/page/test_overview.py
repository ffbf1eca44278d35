"""The overview shows an hour or a day as charts, each kind with its history, and what runs now."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.trends_made import (
    DATABASE,
    LAYOUT,
    NOW,
    WEBSITE,
    made_trends,
    overview_of,
    running_row,
)

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.rows import Counts
from rolecall.extensions.console.page.trends import BusyRow, Interval, SeenTrends, TrendSpan
from rolecall.extensions.console.page.views import RunProgress

QUIET, GOOD = Interval(), Interval(4, 0, 0, 1.0, 2.0, 0.0)
BAD = Interval(4, 1, 3, 1.0, 9.5, 12.0)


def html_of(trends: SeenTrends, **more: Any) -> str:
    made = views.overview(overview_of(trends, **more), LAYOUT)
    assert Seen(made).harm == []
    return made


def words_of(trends: SeenTrends, **more: Any) -> str:
    return " ".join("".join(Seen(html_of(trends, **more)).text).split())


def test_all_well_shows_what_ran_and_that_nothing_failed() -> None:
    text = words_of(made_trends({WEBSITE: [GOOD] * 60}))
    assert "No object fails." in text
    assert "240 runs, none failed; at most 4 per minute." in text
    assert "The median run took 1.0 s; the 95th percentile reached 2.0 s." in text
    assert "No wait for a worker was recorded." in text
    assert "no failure" in text


def test_kind_that_fails_says_how_often_and_when_last() -> None:
    intervals = [GOOD] * 50 + [BAD] * 3 + [QUIET] * 7
    trends = made_trends({WEBSITE: intervals, DATABASE: [QUIET] * 60})
    text = words_of(trends)
    assert "failing in 3 of 60 minutes, the last at 15:52 UTC" in text
    assert "212 runs, 3 of them failed" in text
    assert "The longest wait was 12 s" in text
    html = html_of(trends)
    history = html[html.index('id="kinds"') : html.index('id="running"')]
    assert history.count('<rect x="') == 3
    assert "<title>8 min ago: 1 of 4 runs failed, 3 failing</title>" in history
    assert "no run" in history


def test_history_of_a_day_is_drawn_to_its_end() -> None:
    """Longer than texts that are printed may be."""
    html = html_of(made_trends({WEBSITE: [GOOD] * 96}, TrendSpan.DAY))
    (path,) = re.findall(r'class="mark good" d="([^"]*)"', html)
    assert path.count("M") == 96 and path.endswith("z")


def test_top_of_each_axis_has_its_unit() -> None:
    html = html_of(made_trends({WEBSITE: [BAD] * 96}, TrendSpan.DAY))
    tops = re.findall(r'class="top">([^<]+)<', html)
    assert tops == ["5 per 15 min", "10 s", "20 s"]
    assert "failing in each of 96 quarter-hours, and now" in html


@pytest.mark.parametrize(("span", "first"), [(TrendSpan.HOUR, "15:00"), (TrendSpan.DAY, "16:00")])
def test_axis_names_the_day_on_which_it_begins_and_ends_now(span: TrendSpan, first: str) -> None:
    """A day's first and last moment have the same time."""
    html = html_of(made_trends({WEBSITE: [GOOD] * span.intervals}, span))
    axis = re.findall(r'class="axis"[^>]*>(.*?)</div>', html)[0]
    labels = ["".join(Seen(each).text) for each in re.findall("<span>(.*?)</span>", axis)]
    assert labels[0] == f"{'Sat' if span is TrendSpan.HOUR else 'Fri'} {first} UTC"
    assert labels[-1] == "now" and len(set(labels)) == 4


def test_numbers_of_charts_are_a_table_of_the_intervals_that_had_runs() -> None:
    html = html_of(made_trends({WEBSITE: [QUIET] * 58 + [GOOD, BAD]}))
    table = html[html.index('id="trend-numbers"') : html.index("</details>")]
    rows = re.findall(r"<tr><th.*?</tr>", table)
    assert [re.findall(r'number">([^<]+)<', row) for row in rows if "number" in row] == [
        ["4", "1", "1.0 s", "9.5 s", "12 s"],
        ["4", "0", "1.0 s", "2.0 s", "0.00 s"],
    ]


@pytest.mark.parametrize("by_kind", [{}, {WEBSITE: ()}, {WEBSITE: [QUIET] * 60}])
def test_no_data_is_said_in_words(by_kind: Any) -> None:
    text = words_of(made_trends(by_kind))
    assert "No run ended in the last hour." in text


def test_one_interval_alone_is_drawn() -> None:
    html = html_of(made_trends({WEBSITE: [QUIET] * 59 + [BAD]}))
    assert html.count('class="line') == 2
    assert "failing in 1 of 60 minutes, and now" in html


def test_short_history_says_since_when_and_unread_runs_are_announced() -> None:
    since = NOW - timedelta(minutes=10)
    by_kind = {WEBSITE: [QUIET] * 50 + [BAD] + [GOOD] * 9}
    text = words_of(made_trends(by_kind, since=since))
    assert "Runs are known since 2026-11-28 15:50:00 UTC." in text
    assert "failing in 1 of 10 minutes" in text
    text = words_of(made_trends(by_kind, since=since, is_reading=True))
    assert "are still being read" in text and "Runs are known since" not in text
    text = words_of(made_trends({WEBSITE: [QUIET] * 60}, is_reading=True))
    assert "not known yet" in text and "No run ended" not in text


def test_address_keeps_the_span() -> None:
    assert 'data-fragment="/?span=day&amp;fragment=1"' in html_of(made_trends({}, TrendSpan.DAY))
    assert 'data-fragment="/?fragment=1"' in html_of(made_trends({}))
    assert '<a href="/?span=day" aria-current="true">' in html_of(made_trends({}, TrendSpan.DAY))


def test_slow_tasks_and_causes_need_the_log_right() -> None:
    busy = [BusyRow(WEBSITE, "wait for it", "roles/web/tasks/main.yml:3", 4, 60.0, 31.0)]
    by_kind = {WEBSITE: [GOOD] * 60}
    text = words_of(made_trends(by_kind, slowest=busy))
    assert "wait for itWebsite roles/web/tasks/main.yml:3" in text
    assert "60 s 4 15 s 31 s".replace(" ", "") in text.replace(" ", "")
    text = words_of(made_trends(by_kind, may_read_log=False))
    assert text.count("which you may not read") == 2


def test_run_in_progress_shows_how_far_it_is_and_that_it_waits() -> None:
    row, *others = [running_row(name) for name in "abcd"]
    progress = {
        row.key: RunProgress(7, 24, "2026-11-28T15:59:00Z"),
        others[0].key: RunProgress(30, 24),
        others[1].key: RunProgress(3),
    }
    counts = Counts({WEBSITE: Counter(running=4)}, Counter(), [row, *others])
    html = html_of(made_trends({}), counts=counts, progress=progress)
    assert re.findall(r'<progress max="100" value="(\d+)"', html) == ["25"]
    assert html.count('class="badge waits"') == 1
    for words in ("task 7 of about 24", "task 30; the last good run had 24", "task 3<"):
        assert words in html


def test_many_runs_in_progress_are_cut_with_a_word() -> None:
    rows = [running_row(f"w{n}") for n in range(130)]
    text = words_of(made_trends({}), counts=Counts({}, Counter(), rows))
    assert "There are 30 more." in text
