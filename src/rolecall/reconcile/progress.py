"""How far a run in flight has come, by its events.

Events come redacted, and from a process that roles and modules can write into: names are taken as text
of one line and of bounded length, and nothing else is believed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from rolecall.reconcile.shortened import one_line
from rolecall.runner import RunEvent

_TASK_STARTS = frozenset({"playbook_on_task_start", "playbook_on_handler_task_start"})
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is at. Before its first task, and where Ansible gives none, names are empty."""

    run_id: str
    cause: str  # why the run was started
    began: datetime
    task_since: datetime
    task: str = ""
    place: str = ""  # `roles/web/tasks/main.yml:12`
    tasks: int = 0  # that began so far
    waits_since: datetime | None = None  # it waits, and needs no slot
    timeout_s: float | None = None  # the engine stops the run after that
    no_progress_timeout_s: float | None = None  # or after that without output

    @classmethod
    def at_start(cls, run_id: str, cause: str, now: datetime) -> Progress:
        return cls(run_id, cause, began=now, task_since=now)

    def within(self, timeout_s: float | None, no_progress_timeout_s: float | None) -> Progress:
        """The same run with the limits that stop it."""
        return replace(self, timeout_s=timeout_s, no_progress_timeout_s=no_progress_timeout_s)

    def after(self, event: RunEvent, now: datetime) -> Progress:
        """The same run once it said this."""
        task = event.data.get("task")
        if event.name not in _TASK_STARTS or not isinstance(task, str):
            return self
        name, place = _name(task), _name(event.place)
        return replace(self, task=name, place=place, tasks=self.tasks + 1, task_since=now)

    @property
    def where(self) -> str:
        """The task and its place, for people; empty before the first task."""
        if not self.task:
            return ""
        return f"task `{self.task}` ({self.place})" if self.place else f"task `{self.task}`"


def _name(text: str) -> str:
    return one_line("".join(one if one.isprintable() else " " for one in text), _LONGEST)
