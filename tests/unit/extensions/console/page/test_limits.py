"""So many at once, then so many a second, for each asker by himself."""

from __future__ import annotations

import pytest
from tests.unit.runner_warm.fakes import SteppedClock

from rolecall.extensions.console.page.access import RateLimits, TooManyError


def test_asker_has_so_many_at_once_and_gets_more_with_time() -> None:
    clock = SteppedClock()
    limits = RateLimits(clock, at_once=3, a_second=2)
    for _ in range(3):
        limits.take("a")
    with pytest.raises(TooManyError) as refused:
        limits.take("a")
    assert refused.value.wait_s == pytest.approx(0.5)
    limits.take("b")
    clock.step(0.5)
    limits.take("a")
    with pytest.raises(TooManyError):
        limits.take("a")
