"""Where a task's time went, and how it is drawn: sums, outlines, round moments."""

from __future__ import annotations

import gc
import re

import pytest

from rolecall.extensions.console.task_times import (
    TaskTimes,
    finite,
    outline,
    seconds_of,
    stacked,
    ticks,
    times_of,
)
from rolecall.record import RecordedRequest

AXIS = (0.0, 10.0)


def asks(at_s: float, seconds: float, verb: str = "get", query: str = "") -> RecordedRequest:
    return RecordedRequest(
        0, at_s, seconds, verb, "", "v1", "pods", "", "shop", "web", 200, "", query
    )


def drawn(path: str) -> list[tuple[float, float]]:
    """Where the rectangles of a path begin, and how wide they are."""
    return [(float(x), float(w)) for x, w in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", path)]


def test_parts_of_a_task_add_up_to_its_time() -> None:
    asked = [asks(101.0, 1.0), asks(101.5, 1.0), asks(104.0, 0.5, "patch")]
    times = times_of((1.0, 7.0), asked, 100.0, [(2.0, 4.5)])
    assert (times.api_s, times.wait_s, times.module_s) == (2.0, 1.5, 2.5)
    assert (times.requests, times.write_requests) == (3, 1)
    assert times.waits == ((2.5, 4.0),)
    assert times.words == (
        "from 1.00 s, for 6.00 s: 1.50 s waiting, 2.00 s in 3 requests to the API server (1 write),"
        " 2.50 s in its module"
    )


def test_dry_run_is_no_write_and_a_watch_is_a_wait() -> None:
    asked = [asks(0.0, 1.0, "patch", "dryRun=All"), asks(2.0, 3.0, "watch")]
    times = times_of((0.0, 6.0), asked)
    assert (times.write_requests, times.api_s, times.wait_s) == (0, 1.0, 3.0)


def test_request_that_outlasts_its_task_is_cut_at_its_end() -> None:
    times = times_of((1.0, 2.0), [asks(1.5, 90.0), asks(0.0, 0.1)])
    assert (times.api_s, times.module_s) == (0.5, 0.5)


@pytest.mark.parametrize("odd", ["x", None, True, float("nan"), float("inf"), -1e300, 10**400, []])
def test_number_that_cannot_be_reckoned_with_is_nothing(odd: object) -> None:
    assert finite(odd) == 0.0


def test_bars_that_touch_on_the_screen_are_one_and_none_is_too_thin() -> None:
    spans = [(n / 1000, n / 1000 + 0.0005) for n in range(10_000)]
    assert len(drawn(outline(spans, AXIS, 0, 100))) == 1
    assert drawn(outline([(1.0, 1.0), (9.9999, 99.0)], AXIS, 0, 100)) == [
        (100.0, 1.5),
        (998.5, 1.5),
    ]
    apart = outline([(n / 100, n / 100) for n in range(1000)], AXIS, 0, 100)
    assert len(apart) < 20_000


def test_strip_of_a_run_fills_each_column_as_its_time_was() -> None:
    task = TaskTimes(0.0, 5.0, [(1.0, 2.0)], [(1.5, 2.5)], [(3.0, 4.0)], 2, 1)
    shapes = dict(stacked([task], TaskTimes(0.0, 10.0, [(8.0, 9.0)]), AXIS))
    assert [len(drawn(shapes[kind])) for kind in ("module", "waits", "read", "write")] == [
        50,
        20,
        10 + 20,
        20,
    ]


@pytest.mark.parametrize(
    ("length", "last"),
    [
        (0.0123, "0.01 s"),
        (1.0, "1 s"),
        (12.3, "10 s"),
        (200, "3 min"),
        (541, "8 min"),
        (9e5, "250 h"),
    ],
)
def test_moments_of_an_axis_are_round(length: float, last: str) -> None:
    found = ticks((0.0, length))
    assert found[0] == (0.0, "0 s")
    assert found[-1][1] == last
    assert 2 <= len(found) <= 12
    assert all(0 <= x <= 1000.0001 for x, _ in found)


def test_axis_of_nothing_has_a_beginning() -> None:
    assert ticks((0.0, 0.0)) == [(0.0, "0 s")]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.0123, "0.012 s"),
        (9.996, "10.0 s"),
        (99.96, "1 min 40 s"),
        (7384, "2 h 3 min"),
    ],
)
def test_seconds_are_as_exact_as_people_need(seconds: float, text: str) -> None:
    assert seconds_of(seconds) == text


def test_collector_looks_at_none_of_the_spans_of_a_task() -> None:
    times = times_of((0.0, 5.0), [asks(1.0, 0.5), asks(2.0, 0.5, "patch")], 0.0, [(3.0, 4.0)])
    gc.collect()  # which looks at what is inside of another one later, and then at neither
    gc.collect()
    assert [gc.is_tracked(spans) for spans in (times.reads, times.writes, times.waits)] == [
        False
    ] * 3
