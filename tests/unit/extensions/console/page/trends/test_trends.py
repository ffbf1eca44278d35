"""What runs of the last hour and day look like: counts, durations, failing CRs, tasks and causes."""

from __future__ import annotations

from datetime import timedelta
from math import inf, nan

import pytest
from tests.unit.extensions.console.control.engine import SITE
from tests.unit.extensions.console.page.trends.ended import (
    NOON,
    SHOP,
    Watched,
    ended,
    gone,
    site,
)

from rolecall.extensions.console.page.trends import Interval, TrendSpan
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

BLOG = Gvk("demo.example.com", "v1", "Blog")


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_run_is_counted_in_the_minute_and_the_quarter_in_which_it_ended(watched: Watched) -> None:
    watched.ends(ended(site("a")), ended(site("b"), "failed"))
    watched.minutes_pass(2)
    watched.ends(ended(site("a")))
    assert watched.runs() == [0] * 57 + [2, 0, 1]
    assert watched.runs(TrendSpan.DAY) == [0] * 95 + [3]
    assert [each.failed for each in watched.seen().all][-3:] == [1, 0, 0]
    watched.minutes_pass(13)
    assert watched.runs(TrendSpan.DAY) == [0] * 94 + [3, 0]
    watched.minutes_pass(60 * 24)
    assert not any(watched.runs()) and not any(watched.runs(TrendSpan.DAY))


def test_intervals_begin_as_on_the_wall_and_the_last_one_is_not_over(watched: Watched) -> None:
    watched.minutes_pass(3.5)
    assert watched.seen().ended == NOON + timedelta(minutes=4)
    assert watched.seen(TrendSpan.DAY).ended == NOON + timedelta(minutes=15)


def test_intervals_end_at_whole_minutes_however_the_clocks_are_read(watched: Watched) -> None:
    """Readings of two clocks are a moment apart, and the wall's may be set: 15:44 is never 15:45."""
    for watched.clock.apart_s in (1e-4, 2.0, -2.0):
        for span, minutes in ((TrendSpan.HOUR, 4), (TrendSpan.DAY, 15)):
            watched.minutes_pass(3.5 - watched.clock.passed_s / 60)
            assert watched.seen(span).ended == NOON + timedelta(minutes=minutes)
            watched.ends()


def test_nothing_is_known_of_before_the_engine_and_of_before_the_span(watched: Watched) -> None:
    assert watched.seen().since == NOON
    watched.minutes_pass(90)
    assert watched.seen(TrendSpan.DAY).since == NOON
    assert watched.seen().since == NOON + timedelta(minutes=31)


def test_median_and_percentile_of_any_places_are_right_to_a_tenth(watched: Watched) -> None:
    seconds = [0.5 + number * 0.25 for number in range(400)]
    for number, each in enumerate(seconds):
        watched.ends(ended(site("a", f"ns{number % 7}"), seconds=each))
    seen = watched.seen(places=[(SITE, f"ns{number}") for number in range(7)]).all[-1]
    assert seen.median_s == pytest.approx(seconds[200], rel=0.1)
    assert seen.p95_s == pytest.approx(seconds[380], rel=0.1)
    some = watched.seen(places=[(SITE, "ns3")]).all[-1]
    assert some.median_s == pytest.approx(sorted(seconds[3::7])[28], rel=0.1)


def test_interval_without_runs_has_no_durations(watched: Watched) -> None:
    assert watched.seen().all == [Interval()] * 60


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e30, inf, nan])
def test_odd_durations_and_waits_are_counted(watched: Watched, seconds: float) -> None:
    watched.ends(ended(site("a"), seconds=seconds, waited_s=seconds))
    assert watched.runs()[-1] == 1


def test_longest_wait_for_a_worker_is_shown(watched: Watched) -> None:
    watched.ends(ended(site("a"), waited_s=2.0), ended(site("b"), waited_s=40.0), ended(site("c")))
    assert watched.seen().all[-1].waited_s == pytest.approx(40.0, rel=0.1)
    watched.minutes_pass(1)
    watched.ends(ended(site("a")))
    assert watched.seen().all[-1].waited_s == 0.0


def test_cr_fails_in_each_interval_until_a_run_succeeds(watched: Watched) -> None:
    watched.ends(ended(site("a"), "failed"), ended(site("b"), "failed"))
    assert watched.failing()[-1] == 2
    watched.minutes_pass(20)
    assert watched.failing() == [0] * 39 + [2] * 21
    assert watched.failing(TrendSpan.DAY)[-3:] == [0, 2, 2]
    watched.ends(ended(site("a")))
    assert watched.failing()[-1] == 2, "at its begin"
    watched.minutes_pass(40)
    assert watched.failing()[-40:] == [1] * 40
    assert watched.failing(TrendSpan.DAY)[-5:] == [2, 2, 1, 1, 1]


def test_cancelled_run_has_not_failed_and_has_no_duration(watched: Watched) -> None:
    watched.ends(ended(site("a"), "failed"), ended(site("a"), "cancelled", 500.0))
    watched.minutes_pass(1)
    before, now = watched.seen().all[-2:]
    assert (before.runs, before.failed, before.failing, now.failing) == (2, 1, 0, 0)
    assert before.p95_s == pytest.approx(1.0, rel=0.1)


def test_gone_cr_does_not_fail(watched: Watched) -> None:
    watched.ends(ended(site("a"), "failed"), gone(site("a")), gone(site("b")))
    watched.minutes_pass(1)
    assert watched.failing()[-1] == 0
    assert sum(watched.runs()) == 1


def test_cr_that_another_replica_has_does_not_fail_here(watched: Watched) -> None:
    watched.ends(ended(site("a"), "failed"), ended(site("b"), "failed"))
    watched.minutes_pass(1)
    watched.trends.keep_failing(site("b").__eq__)
    watched.minutes_pass(2)
    assert watched.failing()[-1] == 1


def test_kinds_are_counted_apart_and_each_has_all_intervals(watched: Watched) -> None:
    blog = (BLOG, "shop")
    watched.ends(ended(site("a")))
    assert watched.seen(places=[SHOP, blog]).by_kind[BLOG] == (Interval(),) * 60
    watched.minutes_pass(3)
    watched.ends(ended(Key(BLOG, "shop", "b"), "failed"))
    seen = watched.seen(places=[SHOP, blog])
    assert {gvk: [each.runs for each in row][-4:] for gvk, row in seen.by_kind.items()} == {
        SITE: [1, 0, 0, 0],
        BLOG: [0, 0, 0, 1],
    }
    assert {len(row) for row in (seen.all, *seen.by_kind.values())} == {60}
    assert seen.by_kind[SITE][-1].failing == 0
