"""A record in the order of time: what each task asked for, and what was asked outside of any task."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from rolecall.record.model import NO_TASK, RecordedRequest, RecordedTask, RunRecord


@dataclass(slots=True)
class Phase:
    """A task, or the requests that came between two tasks."""

    task: RecordedTask | None
    began_s: float  # since the run began
    ended_s: float | None  # None: the run ended in it
    origin_s: float  # when the run began, on the clock of the record
    requests: list[RecordedRequest] = field(default_factory=list)


def phases_of(record: RunRecord) -> list[Phase]:
    """All of them, by their beginnings; tasks that asked for nothing included."""
    phases = {number: _of_task(task, record) for number, task in enumerate(record.tasks)}
    outside: list[Phase] = []
    begins = sorted(phase.began_s for phase in phases.values())
    for request in sorted(record.requests, key=lambda each: each.at_s):
        if request.task != NO_TASK and request.task in phases:
            phases[request.task].requests.append(request)
        else:
            _add_outside(outside, request, record, begins)
    # A task stands before what was asked outside of tasks at the same moment.
    return sorted([*phases.values(), *outside], key=lambda phase: phase.began_s)


def axis_of(phases: Sequence[Phase], record: RunRecord) -> tuple[float, float]:
    """From the first phase to the run's end, in seconds since the run began.

    Before the first one the play is being started, which may take longer than all that follows.
    """
    end_s = length_s(record)
    return min(end_s, max(0.0, phases[0].began_s)) if phases else 0.0, end_s


def length_s(record: RunRecord) -> float:
    """From the run's beginning to the last thing that is known of it."""
    ends = [record.ended_s or record.began_s]
    ends += [task.ended_s or task.began_s for task in record.tasks]
    ends += [request.at_s + request.seconds for request in record.requests]
    return max(0.0, max(ends) - record.began_s)


def _of_task(task: RecordedTask, record: RunRecord) -> Phase:
    ended_s = None if task.ended_s is None else task.ended_s - record.began_s
    return Phase(task, task.began_s - record.began_s, ended_s, record.began_s)


def _add_outside(
    outside: list[Phase], request: RecordedRequest, record: RunRecord, begins: Sequence[float]
) -> None:
    """To the requests before it, unless a task began between them."""
    at_s = request.at_s - record.began_s
    ended_s = at_s + request.seconds
    last = outside[-1] if outside else None
    if last is None or bisect_right(begins, last.began_s) < bisect_right(begins, at_s):
        outside.append(Phase(None, at_s, ended_s, record.began_s, [request]))
        return
    last.requests.append(request)
    last.ended_s = max(last.ended_s or ended_s, ended_s)
