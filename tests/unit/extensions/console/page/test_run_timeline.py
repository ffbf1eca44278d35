"""When tasks ran, waited and asked: by the record, or by the time of day, whatever both say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.run_timeline import RunTimeline, timeline_of
from rolecall.extensions.console.page.shown_tasks import ShownTask
from rolecall.extensions.console.page.views.comparison import pairs_of, sentence_of
from rolecall.extensions.console.page.views.run import RunPage
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.record import RecordedRequest, RecordedTask, RunRecord
from rolecall.workqueue import Key

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
KEY = Key(Gvk("demo.example.com", "v1", "Website"), "shop", "a")


def run(seconds: float | None = 10.0, outcome: str = "succeeded") -> KeptRun:
    return KeptRun("7", began=NOON, seconds=seconds, outcome=outcome)


def task(number: int, began_s: float, took_s: float, outcome: str = "ok", **more: Any) -> ShownTask:
    """`began_s`: after the run, by the time of day."""
    at = NOON.timestamp() + began_s
    made = ShownTask(number, f"step {number}", "", "k8s", outcome, took_s, uuid=f"u{number}", at=at)
    made.ended_at = at + took_s if outcome else None
    for name, value in more.items():
        setattr(made, name, value)
    return made


def asks(at_s: float, task: int, verb: str = "get", seconds: float = 0.1) -> RecordedRequest:
    return RecordedRequest(
        0,
        at_s,
        seconds,
        verb,
        "",
        "v1",
        "pods",
        "",
        "shop",
        "web",
        200,
        task=task,
        answered_bytes=10,
    )


def record(tasks: list[RecordedTask], requests: list[RecordedRequest], end_s: float) -> RunRecord:
    return RunRecord("7", NOON, 100.0, tuple(tasks), tuple(requests), end_s)


def recorded(number: int, began_s: float, ended_s: float | None) -> RecordedTask:
    return RecordedTask(f"u{number}", "", "", "k8s", began_s, ended_s)


def spans(timeline: RunTimeline) -> list[tuple[float, float]]:
    return [(round(each.began_s, 3), round(each.ended_s, 3)) for each in timeline.times.values()]


def rounded(found: Any) -> list[tuple[float, float]]:
    return [(round(began, 3), round(ended, 3)) for began, ended in found]


def test_summary_says_where_the_time_went() -> None:
    tasks = [task(1, 0.8, 3.0), task(2, 4.0, 5.0, action="ansible.builtin.pause")]
    known = record(
        [recorded(1, 100.8, 103.8), recorded(2, 104.0, 109.0)],
        [asks(101.0, 0), asks(102.0, 0, "patch", 0.4), asks(103.9, -1)],
        110.0,
    )
    timeline = timeline_of(run(), tasks, known, NOON)
    assert timeline.summary == (
        "10.0 s: 5.00 s waiting, 0.60 s in 3 requests to the API server, 2.50 s in modules,"
        " 1.10 s between tasks; before the first task 0.80 s."
    )
    assert (timeline.verbs, timeline.answered_bytes) == ({"get": 2, "patch": 1}, 30)
    assert timeline.outside.requests == 1


def test_run_without_a_record_is_placed_by_the_time_of_day() -> None:
    timeline = timeline_of(run(), [task(1, 1.0, 2.0), task(2, 4.0, 5.0)], None, NOON)
    assert spans(timeline) == [(1.0, 3.0), (4.0, 9.0)]
    assert not timeline.has_requests
    assert "request" not in timeline.summary


@pytest.mark.parametrize("jump_s", [-3600.0, 3600.0, 86400.0 * 365])
def test_clock_that_jumped_moves_no_task_away(jump_s: float) -> None:
    tasks = [task(1, 1.0, 2.0), task(2, 3.5 + jump_s, 1.0), task(3, 5.0 + jump_s, 2.0)]
    tasks[0].ended_at = (tasks[0].at or 0) + 2.0 + jump_s
    assert spans(timeline_of(run(), tasks, None, NOON)) == [(1.0, 3.0), (3.0, 4.0), (4.5, 6.5)]


def test_clock_that_jumped_does_not_matter_where_there_is_a_record() -> None:
    known = record([recorded(1, 101.0, 103.0)], [], 110.0)
    assert spans(timeline_of(run(), [task(1, -9000.0, 2.0)], known, NOON)) == [(1.0, 3.0)]


def test_numbers_of_a_record_may_be_anything() -> None:
    odd: Any = float("nan")
    known = record([recorded(1, odd, 1e300), recorded(2, 105.0, 101.0)], [asks(odd, 0)], 110.0)
    timeline = timeline_of(run(), [task(1, 0.0, 1.0), task(2, 1.0, 1.0)], known, NOON)
    assert spans(timeline) == [(0.0, 0.0), (5.0, 5.0)]


def test_task_that_the_record_has_not_yet_is_placed_by_the_time_of_day() -> None:
    known = record([recorded(1, 101.0, 102.0)], [], 104.0)
    now = NOON + timedelta(seconds=4)
    timeline = timeline_of(
        run(None, "running"), [task(1, 1.0, 1.0), task(2, 3.0, 0, "")], known, now
    )
    assert spans(timeline) == [(1.0, 2.0), (3.0, 4.0)]


def test_run_in_flight_grows_with_the_time_and_shows_that_it_waits() -> None:
    now = NOON + timedelta(seconds=20)
    since = NOON + timedelta(seconds=15)
    tasks = [task(1, 1.0, 2.0), task(2, 4.0, 0, "")]
    timeline = timeline_of(run(None, "running"), tasks, None, now, since)
    assert spans(timeline) == [(1.0, 3.0), (4.0, 20.0)]
    assert timeline.times[2].waits == ((15.0, 20.0),)


def test_delay_between_attempts_is_a_wait() -> None:
    """Each attempt takes 0.5 s, the delay 2 s: events say when an attempt failed, and no delay."""
    tries = tuple(NOON.timestamp() + at_s for at_s in (1.5, 4.0, 6.5))
    waited = task(1, 1.0, 8.0, tries=tries)
    timeline = timeline_of(run(), [waited], None, NOON)
    assert rounded(timeline.times[1].waits) == [(1.5, 3.5), (4.0, 6.0), (6.5, 8.5)]


def test_next_attempt_begins_with_its_request_at_the_latest() -> None:
    waited = task(1, 1.0, 8.0, tries=(NOON.timestamp() + 1.5,))
    known = record([recorded(1, 101.0, 109.0)], [asks(101.2, 0), asks(103.0, 0)], 110.0)
    timeline = timeline_of(run(), [waited], known, NOON)
    assert rounded(timeline.times[1].waits) == [(1.5, 3.0)]


def test_task_that_polls_waits_between_its_requests() -> None:
    known = record(
        [recorded(1, 101.0, 106.0)], [asks(at, 0) for at in (102.0, 102.2, 105.0)], 110.0
    )
    polling = timeline_of(run(), [task(1, 1.0, 5.0, polls=True)], known, NOON)
    assert rounded(polling.times[1].waits) == [(2.3, 5.0)]
    busy = timeline_of(run(), [task(1, 1.0, 5.0)], known, NOON)
    assert busy.times[1].waits == ()


def test_strip_of_many_tasks_is_bounded_and_shows_the_one_that_failed() -> None:
    tasks = [task(n, n / 10, 0.09, "failed" if n == 3210 else "ok") for n in range(5000)]
    timeline = timeline_of(run(500.0), tasks, None, NOON)
    assert len(timeline.strip) <= 200
    (bad,) = [each for each in timeline.strip if each.is_bad]
    assert (bad.index, bad.counter) == (3210, 3210)
    assert "one failed: step 3210" in bad.title
    assert sum(len(path) for _, path in timeline.shapes) < 40_000
    assert all(
        left.x + left.width <= right.x + 1e-6
        for left, right in zip(timeline.strip, timeline.strip[1:], strict=False)
    )


def page(seconds: float, tasks: list[ShownTask]) -> RunPage:
    timeline = timeline_of(run(seconds), tasks, None, NOON)
    return RunPage(KEY, run(seconds), tasks, 1, is_cut=False, by_time=True, timeline=timeline)


def test_sentence_names_what_made_the_difference() -> None:
    then, now = [task(1, 0, 1.0), task(2, 1, 1.0)], [task(1, 0, 1.2), task(2, 1, 2.9)]
    first, second = page(2.5, then), page(4.6, now)
    said = sentence_of(first, second, pairs_of(then, now))
    assert said == "2.10 s slower, of which 1.90 s in “step 2”; each task ended as before."
    said = sentence_of(second, first, pairs_of(now, then))
    assert said == "2.10 s faster, of which 1.90 s in “step 2”; each task ended as before."
    said = sentence_of(first, first, pairs_of(then, [*then[:1], task(2, 1, 1.0, "failed")]))
    assert said == "Both took about as long; 1 task ended differently."


def test_runs_whose_tasks_are_not_kept_say_so_instead_of_numbers() -> None:
    first, second = page(2.5, []), page(4.6, [])
    assert first.timeline.summary == "2.50 s; none of its tasks is recorded."
    assert sentence_of(first, second, []) == "2.10 s slower; none of their tasks is recorded."
    text = views.run_facts(first)
    assert "none of its tasks is recorded" in text and 'class="strip"' not in text


def test_task_that_is_included_twice_is_compared_with_its_own_turn() -> None:
    def twice(second_s: float) -> list[ShownTask]:
        return [task(1, 0, 1.0, name="x"), task(2, 1, second_s, name="x")]

    pairs = pairs_of(twice(1.0), twice(3.0))
    assert [each.slower_s for each in pairs] == [2.0, 0.0]
