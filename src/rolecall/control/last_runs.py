"""The last run of each CR: read from its artifacts when it is asked for, and kept until the next turn.

So nothing is done for it while nobody asks, and a restart forgets nothing. A turn that failed and left
no artifacts, before its run or for want of a folder, is told by its error while this process lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rolecall.history import KeptRun, Process, kept_cr
from rolecall.workqueue import Key

# The newest folder that is not the run in flight.
_LOOKED_AT = 2
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NOBODY = Process()


def _lean(run: KeptRun | None, key: Key) -> KeptRun | None:
    """Of very many good runs that are held, without what nobody asks of them here."""
    if run is None or run.outcome != "succeeded":
        return run
    return KeptRun(
        run.run,
        kind=key.gvk.kind,
        namespace=key.namespace,
        name=key.name,
        generation=run.generation,
        began=run.began,
        ended=run.ended,
        outcome="succeeded",
        seconds=run.seconds,
        reason=run.reason,
        pruned=_NOTHING,
        engine=_NOBODY,
    )


class LastRuns:
    """Read from any thread; told on the loop."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: dict[Key, KeptRun | None] = {}
        self._errors: dict[Key, tuple[str, str]] = {}  # id of the run, if there was one; error
        self._turns = 0  # what was read while a turn ended may be of before

    def turn_over(self, key: Key, error: str, run: str) -> None:
        """A turn ended, with a run or without; what is known of the key's last run is of yesterday."""
        self._turns += 1
        if run or error:
            self._runs.pop(key, None)
        self._errors.pop(key, None)
        if error:
            self._errors[key] = (run, error)

    def forget(self, key: Key) -> None:
        self._runs.pop(key, None)
        self._errors.pop(key, None)

    def is_known(self, key: Key) -> bool:
        """Whether no file need be read for it."""
        return key in self._runs

    def of(self, key: Key) -> KeptRun | None:
        """The last run that ended, or the turn that could not begin one. Reads files."""
        if key in self._runs:
            run = self._runs[key]
        else:
            turns = self._turns
            cr = kept_cr(self._root, key.gvk, key.namespace, key.name)
            ended = [run for run in cr.runs(_LOOKED_AT) if run.outcome != "running"]
            run = ended[0] if ended else None
            if turns == self._turns:
                self._runs[key] = run = _lean(run, key)
        of_run, error = self._errors.get(key, ("", ""))
        if not error or (run is not None and run.run == of_run):
            return run
        return replace(run or KeptRun(""), run="", outcome="failed", reason=error, failed_task=None)
