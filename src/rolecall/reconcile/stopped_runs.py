"""CRs whose last run a person stopped: only a reason of its own begins the next run.

The objects that the stopped run wrote change in the next moments, and each change would bring the CR
back: the run that hung would begin again at once. So turns for dependents end without a run until an
edit, the period, a deletion or a person begins one. An engine that starts knows of no stop.
"""

from __future__ import annotations

from collections.abc import Callable

from rolecall.workqueue import Key, Turn, Urgency

_WHY = "its last run was stopped by a person, so changes of dependents begin none"


class StoppedRuns:
    def __init__(self) -> None:
        self._keys: set[Key] = set()

    def add(self, key: Key) -> None:
        self._keys.add(key)

    def why_no_run(self, turn: Turn) -> str:
        """Empty: make one."""
        return _WHY if turn.urgency is Urgency.DEPENDENT and turn.key in self._keys else ""

    def forget(self, key: Key) -> None:
        """A run begins, or the CR is gone."""
        self._keys.discard(key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._keys = {key for key in self._keys if not is_meant(key)}
