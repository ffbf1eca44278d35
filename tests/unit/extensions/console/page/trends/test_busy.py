"""Slow tasks and frequent causes of the last hour, and who may see them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.extensions.console.control.engine import SITE
from tests.unit.extensions.console.page.trends.ended import Watched, ended, record, site

from rolecall.extensions.console.page.trends import BusyRow, TrendSpan
from rolecall.extensions.console.page.trends.busy import BusyTotals

MINE, THEIRS = (SITE, "mine"), (SITE, "theirs")


@pytest.fixture
def watched() -> Watched:
    watched = Watched()
    secret = record(("build 1", 3.0), ("secret 2", 50.0))
    watched.ends(
        ended(
            site("a", "mine"),
            record=record(("build 1", 4.0), ("wait 2", 2.0)),
            cause="edit of generation 4",
        ),
        ended(site("b", "mine"), record=record(("build 1", 1.0)), seconds=7.0, cause="retry 4"),
        ended(site("b", "mine"), cause="retry 5"),
        ended(site("c", "theirs"), record=secret, cause="secret cause", seconds=99.0),
    )
    return watched


def test_tasks_add_up_and_the_one_that_took_most_time_is_first(watched: Watched) -> None:
    for span in TrendSpan:
        seen = watched.seen(span, [MINE])
        assert seen.slowest == [
            BusyRow(SITE, "build 1", "roles/web/tasks/main.yml:1", 2, 5.0, 4.0),
            BusyRow(SITE, "wait 2", "roles/web/tasks/main.yml:2", 1, 2.0, 2.0),
        ]


def test_causes_add_up_and_numbers_in_them_make_no_difference(watched: Watched) -> None:
    causes = watched.seen(TrendSpan.HOUR, [MINE]).noisiest
    rows = [(each.name, each.times, each.total_s) for each in causes]
    assert rows == [("retry", 2, 8.0), ("edit", 1, 1.0)]


def test_reader_sees_nothing_of_places_that_he_may_not_list(watched: Watched) -> None:
    seen = watched.seen(TrendSpan.HOUR, [MINE])
    assert (seen.all[-1].runs, "secret" in repr(seen)) == (3, False)
    nothing = watched.seen(TrendSpan.HOUR, [])
    assert (sum(each.runs for each in nothing.all), nothing.by_kind, nothing.slowest) == (0, {}, [])


def test_reader_without_the_right_to_the_log_sees_neither_tasks_nor_causes(
    watched: Watched,
) -> None:
    some = watched.seen(TrendSpan.HOUR, [MINE, THEIRS], [MINE])
    assert some.all[-1].runs == 4
    assert some.may_read_log and "secret" not in repr(some)
    none = watched.seen(TrendSpan.HOUR, [MINE, THEIRS], [])
    assert (none.slowest, none.noisiest, none.may_read_log) == ([], [], False)
    more_logs_than_places = watched.seen(TrendSpan.HOUR, [MINE], [MINE, THEIRS])
    assert "secret" not in repr(more_logs_than_places)


def test_task_in_which_a_run_ended_took_until_then() -> None:
    watched = Watched()
    whole = record(("hang 1", 30.0))
    cut = replace(whole, tasks=(replace(whole.tasks[0], ended_s=None),))
    watched.ends(ended(site("a"), "failed", record=cut))
    assert watched.seen().slowest[0].total_s == 30.0


def test_tasks_and_causes_are_forgotten_after_an_hour(watched: Watched) -> None:
    watched.minutes_pass(59)
    assert len(watched.seen(TrendSpan.HOUR, [MINE]).slowest) == 2
    watched.minutes_pass(6)
    seen = watched.seen(TrendSpan.DAY, [MINE])
    assert (seen.slowest, seen.noisiest) == ([], [])


def test_same_answer_is_given_until_something_changes(watched: Watched) -> None:
    first = watched.seen(TrendSpan.HOUR, [MINE])
    assert watched.seen(TrendSpan.HOUR, [MINE]) is first
    assert watched.seen(TrendSpan.HOUR, [MINE, THEIRS], [MINE]) is not first
    watched.ends(ended(site("a", "mine")))
    assert watched.seen(TrendSpan.HOUR, [MINE]).all[-1].runs == 4


def test_number_of_tasks_is_bounded_and_those_that_took_least_go() -> None:
    totals = BusyTotals()
    for number in range(20_000):
        totals.add(0, 0, f"task {number}", "x" * 1000, 0.001)
        totals.add(0, 0, "the slow one", "", 1.0)
    assert len(totals._open[0]) <= 3000
    totals.close(1)
    assert len(totals._closed[0].owners) == 1500
    slowest = totals.rows(b"\1", [0], [SITE])
    assert (slowest[0].name, slowest[0].times, len(slowest)) == ("the slow one", 20_000, 8)


def test_task_that_is_added_to_an_interval_that_is_over_counts() -> None:
    totals = BusyTotals()
    totals.add(0, 0, "a", "", 1.0)
    totals.close(3)
    assert totals.rows(b"\1", [0], [SITE])[0].times == 1
    totals.add(0, 0, "a", "", 2.0)
    totals.close(3)
    assert totals.rows(b"\1", [0], [SITE]) == [BusyRow(SITE, "a", "", 2, 3.0, 2.0)]
