"""The clock by which Leases are held counts while the machine sleeps, where there is such a clock."""

from __future__ import annotations

import time

import pytest

from rolecall.clock import SystemClock


def test_boottime_is_the_clock_that_counts_suspend() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= SystemClock().boottime() <= time.clock_gettime(time.CLOCK_BOOTTIME)


def test_boottime_is_the_monotonic_clock_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    before = time.monotonic()
    assert before <= SystemClock().boottime() <= time.monotonic()
