"""Waits for descriptors; `select` knows none above 1023, and a busy engine has thousands."""

from __future__ import annotations

import math
import select
from collections.abc import Iterable


def readable(descriptors: Iterable[int], timeout_s: float | None = None) -> set[int]:
    """Those with something to read, or an end to see; empty when the time is over."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    # Rounded up, so that the time is over; a negative one would be for ever.
    wait_ms = None if timeout_s is None else max(0, math.ceil(timeout_s * 1000))
    return {descriptor for descriptor, _ in poll.poll(wait_ms)}
