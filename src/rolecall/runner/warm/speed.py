"""What the run child's notes say about speed: which way each task went, why, and how long it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# From fast to slow: a task went the slowest way that any of its modules went.
_WAYS = ("inline", "in-process", "forked", "stock")


@dataclass(slots=True)
class TaskNotes:
    """What the run child reported besides its output."""

    tasks: list[dict[str, Any]] = field(default_factory=list)
    modules: list[dict[str, Any]] = field(default_factory=list)  # of forked workers, by task uuid
    crash: str = ""  # a traceback of ours; a bug
    impure: tuple[str, str] | None = None  # the first thing that was not pure, and its task's place
    variables: set[str] = field(default_factory=set)  # that a lookup of the environment asked for

    def take_use(self, message: Mapping[str, Any]) -> None:
        """What the play used that is not a function of its inputs, or of the environment."""
        if "variable" in message:
            self.variables.add(str(message["variable"]))
        elif self.impure is None:
            self.impure = str(message.get("impure", "")), str(message.get("place", ""))


def ways_of(notes: TaskNotes) -> Mapping[str, int]:
    """How many tasks went which way."""
    return dict(Counter(task["way"] for task in _tasks(notes)))


def speed_of(notes: TaskNotes, seconds: float) -> dict[str, Any]:
    """The content of `speed.json`: every task in order, with its way, reason and seconds."""
    tasks = [
        {
            key: task[key]
            for key in ("task", "place", "action", "way", "reason", "seconds", "modules")
        }
        for task in _tasks(notes)
    ]
    return {"seconds": round(seconds, 6), "tasks": tasks}


def _tasks(notes: TaskNotes) -> list[dict[str, Any]]:
    forked: dict[str, list[dict[str, Any]]] = {}
    for call in notes.modules:
        forked.setdefault(call["uuid"], []).append(call)
    return [_with_way(task, forked.get(task["uuid"], [])) for task in notes.tasks]


def _with_way(task: dict[str, Any], forked: list[dict[str, Any]]) -> dict[str, Any]:
    modules = [*task["modules"], *forked]
    if not modules:
        return task
    slowest = max(modules, key=lambda call: _WAYS.index(call["way"]))
    reason = slowest["reason"]
    if task["way"] == "stock":
        reason = task["reason"]  # why it needed a worker; that explains its modules too
    return {**task, "modules": modules, "way": slowest["way"], "reason": reason}
