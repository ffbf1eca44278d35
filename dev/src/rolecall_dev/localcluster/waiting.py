"""Waiting for something outside of this process that cannot call us."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from rolecall.clock import SystemClock


def attempts(timeout_s: float, pause_s: float = 0.02) -> Iterator[None]:
    """Looks at it, at least one, with others let work in between, until the time is over."""
    clock = SystemClock()
    deadline = clock.monotonic() + timeout_s
    yield
    while clock.monotonic() <= deadline:
        threading.Event().wait(pause_s)
        yield
