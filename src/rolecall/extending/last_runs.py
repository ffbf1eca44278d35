"""The last run of each CR: read from its artifacts when it is asked for, and kept until the next turn.

So it costs nothing until a client asks, and a restart loses nothing. A turn that failed and left no
artifacts, before its run or for want of a folder, is shown by its error while this process lives.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rolecall.history import FailedTask, KeptRun, kept_cr
from rolecall.reconcile import Outcome
from rolecall.workqueue import Key

# The newest folder that is not the run in flight.
_LOOKED_AT = 2
# Tens of thousands are held, and what a play said may be long.
_LONGEST_TEXT = 4000
_EQUAL_IF_SAME = (
    2  # a version of `marshal` without references: the bytes are equal where the facts are
)


class HeldRun(bytes):
    """A run as it is held for each CR: a tenth of a `KeptRun`, and no work for the collector."""

    __slots__ = ()

    @classmethod
    def of(cls, run: KeptRun) -> HeldRun:
        facts: tuple[Any, ...] = (
            run.run,
            run.generation,
            _stamp(run.began),
            _stamp(run.ended),
            run.seconds,
            run.cause[:_LONGEST_TEXT],
        )
        if run.outcome != "succeeded":
            failed = run.failed_task
            task = failed and (failed.name, failed.place, failed.message)
            texts = [text[:_LONGEST_TEXT] for text in task] if task else []
            facts += (run.outcome, run.reason[:_LONGEST_TEXT], run.is_finalizer, run.ending, texts)
        return cls(marshal.dumps(facts, _EQUAL_IF_SAME))

    @property
    def facts(self) -> HeldFacts:
        return HeldFacts(*marshal.loads(self))  # noqa: S302 - we made these bytes

    def without_content(self) -> HeldRun:
        """For a reader who may know how it ended, and not what it did."""
        shown: tuple[Any, ...] = self.facts._replace(cause="", reason="", failed_task=())
        return HeldRun(marshal.dumps((*shown,), _EQUAL_IF_SAME))

    def whole(self, key: Key, root: Path) -> KeptRun:
        """Without the record of what it changed, which its folder has."""
        facts = self.facts
        return KeptRun(
            facts.run,
            kind=key.gvk.kind,
            namespace=key.namespace,
            name=key.name,
            generation=facts.generation,
            is_finalizer=facts.is_finalizer,
            began=_moment(facts.began_s),
            ended=_moment(facts.ended_s),
            outcome=facts.outcome,
            ending=facts.ending,
            seconds=facts.seconds,
            cause=facts.cause,
            failed_task=FailedTask(*facts.failed_task) if facts.failed_task else None,
            reason=facts.reason,
            folder=kept_cr(root, key.gvk, key.namespace, key.name).artifacts / facts.run,
        )


class HeldFacts(NamedTuple):
    """What a held run says."""

    run: str
    generation: int | None
    began_s: float | None
    ended_s: float | None
    seconds: float | None
    cause: str
    outcome: str = "succeeded"
    reason: str = ""
    is_finalizer: bool = False
    ending: str = "Finished"
    failed_task: Sequence[str] = ()  # its name, its place, what it said


def _stamp(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _moment(stamp_s: float | None) -> datetime | None:
    return None if stamp_s is None else datetime.fromtimestamp(stamp_s, UTC)


class LastRuns:
    """Read from any thread; updated on the loop."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: dict[Key, HeldRun | None] = {}
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
        held = self.held(key)
        return None if held is None else held.whole(key, self._root)

    def held(self, key: Key) -> HeldRun | None:
        """The same as it is held. Reads files."""
        if key in self._runs:
            run = self._runs[key]
        else:
            turns = self._turns
            cr = kept_cr(self._root, key.gvk, key.namespace, key.name)
            ended = [run for run in cr.runs(_LOOKED_AT) if run.outcome != "running"]
            run = HeldRun.of(ended[0]) if ended else None
            if turns == self._turns:
                self._runs[key] = run
        if key not in self._errors:
            return run
        of_run, error = self._errors[key]
        if run is not None and run.facts.run == of_run:
            return run
        kept = run.whole(key, self._root) if run is not None else KeptRun("")
        return HeldRun.of(replace(kept, run="", outcome="failed", reason=error, failed_task=None))
