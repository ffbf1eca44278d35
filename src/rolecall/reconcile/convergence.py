"""Notices a task that changes something on every run, though the CR was not edited.

Such a role and the world, or two of its own tasks, undo each other's work: every run changes a
dependent, whose change asks for the next run. One run of the loop looks like an honest repair,
so runs in a row are counted for each task. Nothing is held back on a user's edit, on a period or a
retry; only turns that dependents ask for wait, longer each time: they are what such a loop feeds on.

Kept for CRs whose last run changed something only, and lost by a restart: then it is counted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.workqueue import Key

# One repair makes one such run, and a role that needs a second pass to settle makes two or three.
RUNS_IN_A_ROW = 5
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 300.0
SHOWN_TASKS = 3


@dataclass(slots=True)
class _Streak:
    uid: str
    generation: int | None
    counts: dict[str, int]  # runs in a row that a task changed something in
    last_run_at: float

    @property
    def longest(self) -> int:
        return max(self.counts.values(), default=0)


class Convergence:
    def __init__(self) -> None:
        self._streaks: dict[Key, _Streak] = {}

    def observe(self, key: Key, cr: Json, changed_tasks: Sequence[str], now: float) -> str | None:
        """Learn from a run that succeeded.

        Returns the message: which tasks do not settle; an empty text where the run changed nothing;
        None while that is not known.
        """
        if not changed_tasks:
            self._streaks.pop(key, None)
            return ""
        uid, generation = str(cr["metadata"].get("uid")), cr["metadata"].get("generation")
        old = self._streaks.get(key)
        counts = old.counts if old and (old.uid, old.generation) == (uid, generation) else {}
        streak = _Streak(
            uid, generation, {task: counts.get(task, 0) + 1 for task in changed_tasks}, now
        )
        self._streaks[key] = streak
        return _message(streak) if streak.longest >= RUNS_IN_A_ROW else None

    def wait_s(self, key: Key, cr: Json, now: float) -> float:
        """How long a turn that a dependent asked for must still wait; 0 for not at all."""
        streak = self._streaks.get(key)
        if streak is None or streak.longest < RUNS_IN_A_ROW:
            return 0.0
        if streak.generation != cr["metadata"].get("generation"):
            return 0.0
        doublings = min(streak.longest - RUNS_IN_A_ROW, 16)
        pause_s = min(FIRST_WAIT_S * 2.0**doublings, LONGEST_WAIT_S)
        return max(0.0, streak.last_run_at + pause_s - now)

    def forget(self, key: Key) -> None:
        self._streaks.pop(key, None)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        for key in [key for key in self._streaks if is_meant(key)]:
            del self._streaks[key]


def _message(streak: _Streak) -> str:
    unsettled = [task for task, count in streak.counts.items() if count >= RUNS_IN_A_ROW]
    tasks = ", ".join(f"`{task}`" for task in unsettled[:SHOWN_TASKS])
    more = f" and {len(unsettled) - SHOWN_TASKS} more" if len(unsettled) > SHOWN_TASKS else ""
    # Without the count: the text stays the same from run to run, and so does the Event.
    return (
        f"Changed something in {RUNS_IN_A_ROW} or more runs in a row, with no edit in between: "
        f"{tasks}{more}"
    )
