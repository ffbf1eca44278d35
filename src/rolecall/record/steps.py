"""A record in the order of time: what each task asked for, and what was asked outside of any task."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from rolecall.record.model import NO_TASK, RecordedRequest, RecordedTask, RunRecord


@dataclass(slots=True)
class Step:
    """A task, or the requests that came between two tasks."""

    task: RecordedTask | None
    began_s: float  # since the run began
    ended_s: float | None  # None: the run ended in it
    origin_s: float  # when the run began, on the clock of the record
    requests: list[RecordedRequest] = field(default_factory=list)


def steps_of(record: RunRecord) -> list[Step]:
    """All of them, by their beginnings; tasks that asked for nothing included."""
    steps = {number: _of_task(task, record) for number, task in enumerate(record.tasks)}
    outside: list[Step] = []
    begins = sorted(step.began_s for step in steps.values())
    for request in sorted(record.requests, key=lambda each: each.at_s):
        if request.task != NO_TASK and request.task in steps:
            steps[request.task].requests.append(request)
        else:
            _add_outside(outside, request, record, begins)
    # A task stands before what was asked outside of tasks at the same moment.
    return sorted([*steps.values(), *outside], key=lambda step: step.began_s)


def length_s(record: RunRecord) -> float:
    """From the run's beginning to the last thing that is known of it."""
    ends = [record.ended_s or record.began_s]
    ends += [task.ended_s or task.began_s for task in record.tasks]
    ends += [request.at_s + request.seconds for request in record.requests]
    return max(0.0, max(ends) - record.began_s)


def _of_task(task: RecordedTask, record: RunRecord) -> Step:
    ended_s = None if task.ended_s is None else task.ended_s - record.began_s
    return Step(task, task.began_s - record.began_s, ended_s, record.began_s)


def _add_outside(
    outside: list[Step], request: RecordedRequest, record: RunRecord, begins: Sequence[float]
) -> None:
    """To the requests before it, unless a task began between them."""
    at_s = request.at_s - record.began_s
    ended_s = at_s + request.seconds
    last = outside[-1] if outside else None
    if last is None or bisect_right(begins, last.began_s) < bisect_right(begins, at_s):
        outside.append(Step(None, at_s, ended_s, record.began_s, [request]))
        return
    last.requests.append(request)
    last.ended_s = max(last.ended_s or ended_s, ended_s)
