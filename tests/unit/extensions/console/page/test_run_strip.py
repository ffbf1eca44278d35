"""The kept runs of an object as bars."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.extensions.console.control.engine import NOON, key
from tests.unit.extensions.console.page.pages_made import cr_page, layout

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.views.run_strip import RunStrip, run_strip
from rolecall.history import KeptRun


def run(name: str, seconds: float | None = 2.4, **more: Any) -> KeptRun:
    known = {"outcome": "succeeded", "cause": "edit", "began": NOON, "seconds": seconds}
    return KeptRun(name, **{**known, **more})


def strip(*runs: KeptRun, may_read_log: bool = True) -> RunStrip:
    return run_strip(key("a"), runs, NOON + timedelta(minutes=4), may_read_log=may_read_log)


def test_oldest_run_is_left_and_each_bar_leads_to_its_run() -> None:
    shown = strip(run("3", outcome="failed"), run("2"), run("1"))
    assert [mark.link.rpartition("/")[2] for mark in shown.marks] == ["1", "2", "3"]
    assert [mark.kind for mark in shown.marks] == ["good", "good", "bad"]
    assert sorted(mark.x for mark in shown.marks) == [mark.x for mark in shown.marks]
    assert shown.summary == "3 runs, oldest left: 2 succeeded, 1 failed."


def test_oldest_run_is_at_one_end_and_the_newest_at_the_other_above_their_times() -> None:
    for count in (2, 5, 16, 50):
        runs = [run(str(n), began=NOON - timedelta(minutes=n)) for n in range(count)]
        shown = strip(*runs)
        first, *_, last = shown.marks
        assert first.x == 0 and last.x + last.width == pytest.approx(1000)
        assert shown.ends == (runs[-1].began, NOON)
        others = zip(shown.marks, shown.marks[1:], strict=False)
        assert all(each.x + each.width < after.x for each, after in others)
    assert strip(run("1")).ends == (NOON,)


def test_page_shows_the_times_below_the_bars_and_words_on_each_of_them() -> None:
    runs = [run("2", cause="<period>"), run("1", began=NOON - timedelta(days=1))]
    html = views.cr(cr_page("a", runs=runs, now=NOON), layout("b"))
    axis = re.findall(r'class="axis">(.*?)</div>', html)[0]
    assert re.findall('datetime="([^"]+)"', axis) == [
        "2026-11-21T12:00:00Z",
        "2026-11-22T12:00:00Z",
    ]
    words = "&lt;period&gt;, 2.4 s, succeeded, 12:00 UTC"
    assert f'aria-label="{words}"' in html
    assert html.count(f"<title>{words}</title>") == 2  # of the bar, and of what is above it


def test_title_says_what_the_bar_shows_and_the_cause_with_the_log_right_alone() -> None:
    assert strip(run("1")).marks[0].title == "edit, 2.4 s, succeeded, 12:00 UTC"
    assert strip(run("1"), may_read_log=False).marks[0].title == "2.4 s, succeeded, 12:00 UTC"
    earlier = run("1", began=NOON - timedelta(days=1))
    assert strip(earlier).marks[0].title.endswith("2026-11-21 12:00 UTC")


def test_longest_run_is_as_high_as_the_strip_and_named() -> None:
    shown = strip(run("2", 3600.0), run("1", 1.0))
    assert [round(mark.height) for mark in shown.marks] == [29, 100]
    assert shown.top == "60 min"
    assert all(mark.y + mark.height == pytest.approx(100) for mark in shown.marks)


def test_run_under_way_is_as_long_as_it_has_lasted() -> None:
    shown = strip(run("1", None, outcome="running"))
    assert shown.marks[0].title == "edit, 4 min, running, 12:00 UTC"
    assert (shown.marks[0].kind, shown.top) == ("busy", "4 min")


@pytest.mark.parametrize("seconds", [None, 0.0, -5.0, float("inf"), float("nan"), 1e308])
def test_duration_of_an_odd_value_is_a_bar_on_the_strip(seconds: float | None) -> None:
    for mark in strip(run("2", seconds, began=None), run("1")).marks:
        assert 0 <= mark.y <= 100 and 0 < mark.height <= 100


def test_without_runs_there_is_no_strip() -> None:
    assert strip() == RunStrip()
