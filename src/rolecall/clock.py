"""Time, passed in: nothing else in the engine asks the machine what time it is.

So tests run on a clock of their own, and a ten-hour period takes no time to prove.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """What the engine may ask about time."""

    def now(self) -> datetime:
        """Wall time in UTC, for what people and the API server read."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for periods and durations."""

    def boottime(self) -> float:
        """Seconds that never run backwards and count while the machine sleeps, for Leases."""

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the loop."""


def time_text(moment: datetime) -> str:
    """RFC 3339, in UTC, to the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def boottime(self) -> float:
        # macOS has none by that name; there, a laptop that sleeps is not a replica.
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class ThreadTimes:
    """What one thread has done since it began, in seconds."""

    working: float = 0.0  # on a CPU
    queueing: float = 0.0  # ready, but the machine had no CPU for it


def thread_times(native_id: int) -> ThreadTimes:
    """What a thread of this process has done; zeros where the system does not say."""
    try:
        fields = Path(f"/proc/self/task/{native_id}/schedstat").read_text().split()
    except OSError:
        return ThreadTimes()
    return ThreadTimes(int(fields[0]) / 1e9, int(fields[1]) / 1e9)
