"""What becomes of each run that has ended, beside status: metrics, the ledger of usage, traces.

Promises: a turn pays for one entry in a list; the work is done in a thread, some runs at a time. What
cannot be written is told once, and costs no run. Of an engine that is killed the last second is lost;
one that is told to stop writes all, as long as that takes no more than `CLOSING_S`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from rolecall.clock import Clock
from rolecall.log_fields import log_fields
from rolecall.reconcile import Outcome
from rolecall.record import RunRecord
from rolecall.runner import in_thread, outcome_of
from rolecall.traces import EndedTurn, TurnTraces
from rolecall.usage import CrOfRuns, Usage, UsageLedger
from rolecall.workqueue import Key, Turn

CLOSING_S = 5.0
_TOGETHER_S = 1.0
# Of runs that wait for a disk or a machine that hangs; what comes above it pushes out the oldest.
_MOST_WAITING = 10_000
# Above this, they wait without what they read and wrote, which takes memory.
_MOST_WITH_NOTES = 1_000
_NOT_FOUND = 404

OnUsed = Callable[[Key, Usage], None]
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Ended:
    turn: Turn
    outcome: Outcome
    ended_s: float


class EndedRuns:
    def __init__(
        self, ledger: UsageLedger, clock: Clock, on_used: OnUsed, traces: TurnTraces | None = None
    ) -> None:
        """`on_used` is called in a thread."""
        self._ledger, self._clock = ledger, clock
        self._on_used, self._traces = on_used, traces
        self._waiting: deque[_Ended] = deque(maxlen=_MOST_WAITING)
        self._has_come = asyncio.Event()
        self._one_at_a_time = threading.Lock()
        self._is_told = False  # that the ledger cannot be written

    def turn_over(self, turn: Turn, outcome: Outcome) -> None:
        """A turn has ended, with a run or without."""
        if outcome.trail is None and not outcome.forget:
            return
        if outcome.trail is not None and len(self._waiting) >= _MOST_WITH_NOTES:
            outcome = replace(outcome, trail=replace(outcome.trail, notes=None))
        self._waiting.append(_Ended(turn, outcome, self._clock.monotonic()))
        self._has_come.set()

    async def run(self) -> None:
        """Work off what comes, until cancelled."""
        while True:
            await self._has_come.wait()
            self._has_come.clear()
            await self._clock.sleep(_TOGETHER_S)
            await in_thread(self._work_off)

    async def close(self) -> None:
        """Work off what is left, and let what is under way to a collector arrive; bounded."""
        await asyncio.wait([in_thread(self._finish)], timeout=CLOSING_S)
        if self._waiting:
            _logger.warning("usage and traces of the last runs could not be written in time")

    def _finish(self) -> None:
        self._work_off()
        if self._traces is not None:
            self._traces.close(CLOSING_S)

    def _work_off(self) -> None:
        """Blocking."""
        with self._one_at_a_time:
            self._work_off_alone()

    def _work_off_alone(self) -> None:
        used: list[tuple[CrOfRuns, Usage]] = []
        while self._waiting:
            ended = self._waiting.popleft()
            trail = ended.outcome.trail
            record = trail.notes.record() if trail is not None and trail.notes else None
            this = used_by(ended.outcome, record)
            used.append((_name_of(ended.turn.key), this))
            self._on_used(ended.turn.key, this)
            if self._traces is not None and trail is not None:
                self._traces.take(
                    EndedTurn(ended.turn, ended.outcome, trail, record, ended.ended_s)
                )
        if used:
            self._write(used)

    def _write(self, used: list[tuple[CrOfRuns, Usage]]) -> None:
        try:
            self._ledger.add(used, self._clock.now())
        except OSError as error:
            level = logging.DEBUG if self._is_told else logging.WARNING
            why = error.strerror or str(error)
            _logger.log(level, "what runs use could not be written down", extra=log_fields(why=why))
            self._is_told = True
        else:
            self._is_told = False


def used_by(outcome: Outcome, record: RunRecord | None) -> Usage:
    """What a turn's run used; of a CR that is gone, that it owns nothing any more."""
    trail = outcome.trail
    if trail is None:
        return Usage(owned=0)
    result = trail.result
    is_known = record is not None and record.is_complete and result.succeeded
    return Usage(
        runs=1,
        failed=1 if outcome_of(result) == "failed" else 0,
        seconds=result.seconds,
        cpu_s=result.cpu_s or 0.0,
        requests=len(record.requests) if record is not None else 0,
        owned=_owned_by(record) if record is not None and is_known else None,
    )


def _owned_by(record: RunRecord) -> int:
    """Objects that the run saw last as the CR's."""
    owned: set[tuple[str, ...]] = set()
    for each in record.requests:
        place = (each.group, each.resource, each.namespace, each.name)
        is_good = 200 <= each.code < 300
        if (each.verb == "delete" and is_good) or each.code == _NOT_FOUND:
            owned.discard(place)
        elif is_good and each.is_owned and not each.is_dry_run and each.name:
            owned.add(place)
    return len(owned)


def _name_of(key: Key) -> CrOfRuns:
    return CrOfRuns(key.gvk.api_version, key.gvk.kind, key.namespace, key.name)
