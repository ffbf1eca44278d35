"""The timeline of one run: when each of its tasks ran, waited and asked the API server.

Tasks come from event files, which have the time of day; requests and exact moments from the record,
whose clock never jumps. Without a record, a step of the clock that cannot be true is replaced by how
long the task took.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from rolecall.extensions.console.page.shown_tasks import ShownTask
from rolecall.extensions.console.task_times import (
    PARTS,
    Axis,
    Span,
    TaskTimes,
    clipped,
    finite,
    on_axis,
    seconds_of,
    stacked,
    times_of,
)
from rolecall.history import KeptRun
from rolecall.record import NO_TASK, RecordedRequest, RunRecord

_WAITING = frozenset({"pause", "wait_for", "wait_for_connection"})
_LEAST_POLL_S = 0.5  # between two requests of a task that waits; a shorter time is its module's
_SHORTEST_S = 0.001  # of an axis
_LEAST_MARK = PARTS / 200
_LONGEST_NAME = 200
_NOTHING = TaskTimes(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class StripMark:
    """Some neighbouring tasks of a run on one strip, and the one of them that it leads to."""

    x: float
    width: float
    title: str
    name: str
    counter: int
    index: int
    is_bad: bool


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """Moments are seconds after the run began."""

    length_s: float = 0.0
    times: Mapping[int, TaskTimes] = field(default_factory=dict)  # by the counters of the tasks
    outside: TaskTimes = _NOTHING  # what was asked while no task ran
    has_requests: bool = False  # whether there is a record of them, maybe so far
    incomplete: str = ""  # why the record is
    verbs: Mapping[str, int] = field(default_factory=dict)
    sent_bytes: int = 0
    answered_bytes: int = 0
    wait_s: float = 0.0
    api_s: float = 0.0
    module_s: float = 0.0
    first_s: float = 0.0  # before the first task
    shapes: Sequence[tuple[str, str]] = ()  # all of it on one strip, as classes and paths
    strip: Sequence[StripMark] = ()  # what is where on that

    @property
    def axis(self) -> Axis:
        return 0.0, max(self.length_s, _SHORTEST_S)

    @property
    def requests(self) -> int:
        return sum(self.verbs.values())

    @property
    def summary(self) -> str:
        """Where its time went."""
        if not self.times and not self.has_requests:
            return f"{seconds_of(self.length_s)}; none of its tasks is recorded."
        parts = [f"{seconds_of(self.wait_s)} waiting"] if self.wait_s else []
        if self.has_requests:
            many = f"{self.requests:,} request{'' if self.requests == 1 else 's'}"
            parts.append(f"{seconds_of(self.api_s)} in {many} to the API server")
        parts.append(f"{seconds_of(self.module_s)} in modules")
        between_s = self.length_s - self.first_s - self.wait_s - self.api_s - self.module_s
        if between_s >= 0.05:
            parts.append(f"{seconds_of(between_s)} between tasks")
        started = f"; before the first task {seconds_of(self.first_s)}" if self.times else ""
        return f"{seconds_of(self.length_s)}: {', '.join(parts)}{started}."

    def of(self, task: ShownTask) -> TaskTimes:
        return self.times.get(task.counter, _NOTHING)


def timeline_of(
    run: KeptRun,
    tasks: Sequence[ShownTask],
    record: RunRecord | None,
    now: datetime,
    waits_since: datetime | None = None,
) -> RunTimeline:
    """`record`: also of a run in flight; `waits_since`: that run waits now, and needs no slot."""
    length_s = _length_of(run, record, now)
    places = _by_clock(run, tasks, length_s) if record is None else {}
    origin_s = 0.0
    asked: Mapping[str, list[RecordedRequest]] = {}
    if record is not None:
        origin_s = finite(record.began_s)
        asked = _by_task(record)
        places = _by_record(run, tasks, record, length_s)
    times: dict[int, TaskTimes] = {}
    for number, task in enumerate(tasks):
        between = places[task.counter]
        mine = asked.get(task.uuid, ())
        waits = list(_waits_of(task, between, mine, origin_s))
        if waits_since is not None and number == len(tasks) - 1:
            ago_s = max(0.0, (now - waits_since).total_seconds())
            waits.append((between[1] - ago_s, between[1]))
        times[task.counter] = times_of(between, mine, origin_s, waits)
    every = [*times.values()]
    axis = 0.0, max(length_s, _SHORTEST_S)
    outside = times_of((0.0, length_s), asked.get("", ()), origin_s)
    requests = record.requests if record is not None else ()
    return RunTimeline(
        length_s,
        times,
        outside,
        record is not None,
        record.incomplete if record is not None else "",
        Counter(each.verb for each in requests),
        int(sum(finite(each.sent_bytes) for each in requests)),
        int(sum(finite(each.answered_bytes) for each in requests)),
        sum(each.wait_s for each in every),
        sum(each.api_s for each in every) + outside.api_s,
        sum(each.module_s for each in every),
        min((each.began_s for each in every), default=length_s),
        stacked(every, outside, axis),
        _strip_of(tasks, times, axis),
    )


def _strip_of(
    tasks: Sequence[ShownTask], times: Mapping[int, TaskTimes], axis: Axis
) -> list[StripMark]:
    """The run on one strip of some hundred marks; tasks that are too short for one share it.

    One that failed is what its mark shows and leads to.
    """
    marks: list[StripMark] = []
    shared = 1
    for index, task in enumerate(tasks):
        mark = _strip_mark(task, index, times[task.counter], axis)
        last = marks[-1] if marks else None
        if last is None or mark.x >= last.x + _LEAST_MARK:
            shared = 1
            if last is not None:
                marks[-1] = replace(last, width=min(last.width, mark.x - last.x))
            marks.append(mark)
            continue
        shared += 1
        shown = mark if mark.is_bad and not last.is_bad else last
        words = f"{shared:,} tasks, {'one failed' if shown.is_bad else 'the first'}: {shown.name}"
        width = max(last.x + last.width, mark.x + mark.width) - last.x
        marks[-1] = replace(shown, x=last.x, width=width, title=words)
    return marks


def _strip_mark(task: ShownTask, index: int, times: TaskTimes, axis: Axis) -> StripMark:
    left, right = on_axis((times.began_s, times.ended_s), axis)
    name = (task.name or task.action or "a task without a name")[:_LONGEST_NAME]
    title = f"{name}: {task.outcome or 'running'}, {seconds_of(times.seconds)}"
    width = max(right - left, _LEAST_MARK * 0.8)
    x = min(left, PARTS - width)
    is_bad = task.outcome in ("failed", "unreachable")
    return StripMark(x, width, title, name, task.counter, index, is_bad)


def _length_of(run: KeptRun, record: RunRecord | None, now: datetime) -> float:
    if run.outcome != "running":
        if run.seconds is not None:
            return finite(run.seconds)
        if record is not None:
            return max(0.0, finite(record.ended_s) - finite(record.began_s))
        return _between(run.began, run.ended)
    if record is not None:
        return max(0.0, finite(record.ended_s) - finite(record.began_s))
    return _between(run.began, now)


def _between(began: datetime | None, ended: datetime | None) -> float:
    return max(0.0, finite((ended - began).total_seconds())) if began and ended else 0.0


def _by_task(record: RunRecord) -> Mapping[str, list[RecordedRequest]]:
    """By the ids of tasks; those outside of tasks by nothing."""
    found: defaultdict[str, list[RecordedRequest]] = defaultdict(list)
    uuids = [each.uuid for each in record.tasks]
    for each in record.requests:
        is_of_task = each.task != NO_TASK and 0 <= each.task < len(uuids)
        found[uuids[each.task] if is_of_task else ""].append(each)
    return found


def _by_record(
    run: KeptRun, tasks: Sequence[ShownTask], record: RunRecord, length_s: float
) -> dict[int, Span]:
    """Tasks that the record does not have yet, or no more, are placed by the time of day."""
    origin_s = finite(record.began_s)
    recorded = {each.uuid: each for each in record.tasks}
    places = _by_clock(run, tasks, length_s) if len(recorded) < len(tasks) else {}
    for task in tasks:
        if (known := recorded.get(task.uuid)) is not None:
            began_s = finite(known.began_s) - origin_s
            ended_s = length_s if known.ended_s is None else finite(known.ended_s) - origin_s
            places[task.counter] = clipped((began_s, ended_s), (0.0, length_s))
    last_s = 0.0
    for task in tasks:
        last_s = places.setdefault(task.counter, (last_s, last_s))[1]
    return places


def _by_clock(run: KeptRun, tasks: Sequence[ShownTask], length_s: float) -> dict[int, Span]:
    """By the time of day, as far as it can be true."""
    places: dict[int, Span] = {}
    began_at = run.began.timestamp() if run.began is not None else None
    at_s, before_at, took_s = 0.0, began_at, 0.0
    for number, task in enumerate(tasks, 1):
        step_s = took_s
        if task.at is not None and before_at is not None:
            by_clock = task.at - before_at
            step_s = by_clock if 0 <= by_clock <= length_s else took_s
        at_s, before_at = min(at_s + step_s, length_s), task.at
        took_s = task.seconds
        if task.at is not None and task.ended_at is not None:
            by_clock = task.ended_at - task.at
            took_s = by_clock if 0 <= by_clock <= length_s else task.seconds
        runs_on = not task.outcome and number == len(tasks)
        places[task.counter] = at_s, length_s if runs_on else min(at_s + took_s, length_s)
    return places


def _waits_of(
    task: ShownTask, between: Span, requests: Sequence[RecordedRequest], origin_s: float
) -> Iterator[Span]:
    """Between the attempts of `until`; of `pause` all of it; of `wait: true` between its requests.

    A retry is reported before the delay, whose length no event has: the next attempt is taken to last
    as long as the first one did, and begins with a request at the latest.
    """
    began_s, ended_s = between
    if task.action.rpartition(".")[2] in _WAITING:
        yield between
        return
    begins = sorted(finite(each.at_s) - origin_s for each in requests)
    if task.tries and task.at is not None:
        tries = [began_s + each - task.at for each in task.tries]
        first_s = max(0.0, tries[0] - began_s)
        ends = [each - first_s for each in (*tries[1:], ended_s)]
        if not task.outcome:
            ends[-1] = ended_s
        asked = iter(begins)
        request_s = next(asked, None)
        for tried_s, end_s in zip(tries, ends, strict=True):
            while request_s is not None and request_s <= tried_s:
                request_s = next(asked, None)
            until_s = end_s if request_s is None else min(end_s, request_s)
            if tried_s < until_s:
                yield tried_s, until_s
    elif task.polls:
        at_s = began_s
        for each in sorted(requests, key=lambda one: finite(one.at_s)):
            asked_s = finite(each.at_s) - origin_s
            if at_s > began_s and asked_s - at_s >= _LEAST_POLL_S:
                yield at_s, asked_s
            at_s = max(at_s, asked_s + finite(each.seconds))
