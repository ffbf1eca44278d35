"""The queue in figures, for metrics: numbers only, taken at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rolecall.gvk import Gvk
from rolecall.workqueue.key import Urgency


@dataclass(frozen=True, slots=True)
class Waits:
    """How many keys were taken since the start, and how long they had waited together."""

    count: int = 0
    total_s: float = 0.0

    def plus(self, waited_s: float) -> Waits:
        return Waits(self.count + 1, self.total_s + waited_s)


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    depth: Mapping[Gvk, Mapping[Urgency, int]]  # keys that wait for a worker
    in_hand: Mapping[Gvk, int]  # keys that a worker holds
    waiting: Mapping[Gvk, int]  # those of them whose runs wait and have left their slots
    oldest_age_s: Mapping[Urgency, float]  # 0 where nothing waits
    waits: Mapping[Urgency, Waits]  # of the keys taken so far
    delayed: int  # keys that come back at a set time
    backing_off: int  # keys whose last turn failed
    max_runs: int
    max_waiting: int
