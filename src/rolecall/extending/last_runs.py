"""The last run of each CR: read from its artifacts when it is asked for, and kept until the next turn.

So it costs nothing until a client asks, and a restart loses nothing. A turn that failed and left no
artifacts, before its run or for want of a folder, is shown by its error while this process lives.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from sys import intern
from typing import NamedTuple

from rolecall.history import KeptRun, kept_cr
from rolecall.reconcile import Outcome
from rolecall.workqueue import Key

# The newest folder that is not the run in flight.
_LOOKED_AT = 2


class _GoodRun(NamedTuple):
    """What is held of a run that did well, of which there may be tens of thousands."""

    run: str
    generation: int | None
    began_s: float | None
    ended_s: float | None
    seconds: float | None
    cause: str

    def whole(self, key: Key) -> KeptRun:
        return KeptRun(
            self.run,
            kind=key.gvk.kind,
            namespace=key.namespace,
            name=key.name,
            generation=self.generation,
            began=_moment(self.began_s),
            ended=_moment(self.ended_s),
            outcome="succeeded",
            seconds=self.seconds,
            cause=self.cause,
        )


def _lean(run: KeptRun | None) -> KeptRun | _GoodRun | None:
    if run is None or run.outcome != "succeeded":
        return run
    began_s, ended_s = _stamp(run.began), _stamp(run.ended)
    return _GoodRun(run.run, run.generation, began_s, ended_s, run.seconds, intern(run.cause))


def _stamp(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _moment(stamp_s: float | None) -> datetime | None:
    return None if stamp_s is None else datetime.fromtimestamp(stamp_s, UTC)


class LastRuns:
    """Read from any thread; updated on the loop."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: dict[Key, KeptRun | _GoodRun | None] = {}
        self._errors: dict[Key, tuple[str, str]] = {}  # id of the run, if there was one; error
        self._turns = 0  # what was read while a turn ended may be of before

    def turn_over(self, key: Key, outcome: Outcome) -> None:
        """A turn ended, with a run or without; what is known of the key's last run is of yesterday."""
        self._turns += 1
        run, error = str(outcome.ran.get("run", "")), outcome.error
        if run or error or outcome.forget:
            self._runs.pop(key, None)
        self._errors.pop(key, None)
        if error and not outcome.forget:
            self._errors[key] = (run, error)

    def is_known(self, key: Key) -> bool:
        """Whether no file need be read for it."""
        return key in self._runs

    def of(self, key: Key) -> KeptRun | None:
        """The last run that ended, or the turn that could not begin one. Reads files."""
        if key in self._runs:
            held = self._runs[key]
            run = held.whole(key) if isinstance(held, _GoodRun) else held
        else:
            turns = self._turns
            cr = kept_cr(self._root, key.gvk, key.namespace, key.name)
            ended = [run for run in cr.runs(_LOOKED_AT) if run.outcome != "running"]
            run = ended[0] if ended else None
            if turns == self._turns:
                self._runs[key] = _lean(run)
        of_run, error = self._errors.get(key, ("", ""))
        if not error or (run is not None and run.run == of_run):
            return run
        return replace(run or KeptRun(""), run="", outcome="failed", reason=error, failed_task=None)
