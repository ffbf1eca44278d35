"""Folds the events of a run into one `RunResult`: the place that decides what a failed run is.

Promise: a run failed where a task failed that nothing rescued or ignored, where a host could not be
reached, where `ansible-playbook` exited with other than zero, where there is no recap, where it was
ended (a time limit, a signal; also after the recap), or where a `requeue_after` cannot be read.

The hard part is `rescue`: a `runner_on_failed` event never says whether its block rescued it. The
recap does: it counts failed and rescued per host. Where a host has both kinds, its failures are the
last ones, since only `always` sections run after a failure that nothing rescued. Events may come in
any order, so all is decided at the end, by counter.

Rejected: trusting the exit status alone (it hides which task), and reading roles for `rescue` (includes
and conditions make that a guess).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rolecall.documents import DurationError, parse_duration
from rolecall.runner.contract import Ending, Recap, RunEvent, RunResult, TaskFailure
from rolecall.runner.cut_short import CutShort
from rolecall.runner.events import (
    TaskEvent,
    argument_specs_of,
    completion_time,
    counter,
    event_data,
    host_counts,
    short_place,
    task_event,
    time_of_day,
)
from rolecall.runner.explain import OUT_OF_MEMORY_HINT, signal_text, was_killed, why_no_recap
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.missing import way_out_of_missing
from rolecall.runner.needed_verbs import needed_verbs
from rolecall.runner.porting import way_out_of
from rolecall.runner.secrets import Redactor

_TIME_LIMITS = (Ending.TIMED_OUT, Ending.NO_PROGRESS)
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Exit:
    """How the process behind a run ended, as its starter saw it."""

    rc: int | None  # exit status; None where it never ran or a signal ended it
    signal: int | None = None
    # Set by the part that ended the run on purpose: TIMED_OUT, NO_PROGRESS, CANCELLED; NOT_STARTED too.
    ended_as: Ending | None = None
    reason: str = ""  # in one line, for the CR's user
    started_late_s: float = 0.0
    seconds: float = 0.0
    cpu_s: float | None = None
    way: str = "stock"


@dataclass(slots=True)
class _Seen:
    """What the events said so far; of tasks only what the result may need."""

    failed: list[TaskEvent] = field(default_factory=list)
    unreachable: list[TaskEvent] = field(default_factory=list)
    changed: list[tuple[int, str]] = field(default_factory=list)
    report_tasks: set[str] = field(default_factory=set)
    requeues: list[TaskEvent] = field(default_factory=list)
    stats: Mapping[str, Any] | None = None  # the stats event, as it came
    last_start: Mapping[str, Any] | None = None  # the event of the task that began last


class Fold:
    """Takes raw event dicts as ansible-runner merges them, in any order; forgives garbage."""

    def __init__(self, prepared: PreparedRun, redactor: Redactor) -> None:
        self._prepared = prepared
        self._redactor = redactor
        self._project = Path.cwd()
        self._seen = _Seen()
        read_tasks = prepared.request.read_tasks
        self._reader = read_tasks() if read_tasks is not None else None
        self._cut_short = CutShort()

    def add(
        self, event: Mapping[str, Any], *, is_clean: bool = False, at_s: float = 0.0
    ) -> RunEvent | None:
        """Learn from one event; returns it redacted for others, or None where it is no event.

        `is_clean`: it was looked through as a whole, and there is nothing to redact.
        """
        name = event.get("event")
        if not isinstance(name, str) or not event.get("uuid"):
            return None
        data = event_data(event)
        if not is_clean:
            self._redactor.learn(data)
        self._note(name, event)
        created, stdout = event.get("created"), event.get("stdout")
        said = stdout if isinstance(stdout, str) else ""
        return RunEvent(
            name=name,
            counter=counter(event),
            created=created if isinstance(created, str) else "",
            stdout=said if is_clean else self._redactor.text(said),
            data=data if is_clean else self._redactor.event_data(data),
            place=self._place_of_start(data.get("task_path")),
            at_s=at_s,
        )

    def result(self, exit_: Exit, stdout_tail: str = "") -> RunResult:
        """What the run came to; `stdout_tail` explains runs that have no recap."""
        ending = self._ending(exit_, stdout_tail)
        reason = self._reason(ending, exit_, stdout_tail)
        failures = self._failures(exit_) if ending is Ending.FINISHED else []
        if ending in _TIME_LIMITS and self._seen.last_start is not None:
            failures = [self._stopped_in(self._seen.last_start, reason)]
        requeue_after_s, bad_requeues = self._requeue()
        stats = self._seen.stats
        stdout = stats.get("stdout") if stats else ""
        return RunResult(
            run_id=self._prepared.request.run_id,
            ending=ending,
            rc=exit_.rc,
            recap=self._recap(),
            failures=(*failures, *bad_requeues),
            reason_text=reason,
            changed_tasks=tuple(text for _, text in sorted(self._seen.changed)),
            report_tasks=frozenset(self._seen.report_tasks),
            requeue_after_s=requeue_after_s,
            cut_short=self._cut_short.why(event_data(stats or {})),
            recap_stdout=self._redactor.text(stdout) if isinstance(stdout, str) else "",
            artifacts=self._prepared.artifacts,
            started_late_s=exit_.started_late_s,
            seconds=exit_.seconds,
            cpu_s=exit_.cpu_s,
            way=exit_.way,
            answer=self._answer(),
        )

    def _answer(self) -> object:
        if self._reader is None:
            return None
        return self._reader.answer(self._failed_tasks(), self._redactor.text)

    def _note(self, name: str, event: Mapping[str, Any]) -> None:
        if name == "playbook_on_stats":
            self._seen.stats = _later(self._seen.stats, event)
        elif name in ("playbook_on_task_start", "playbook_on_handler_task_start"):
            self._seen.last_start = _later(self._seen.last_start, event)
            self._cut_short.note_start(event_data(event))
        elif name.startswith(("runner_on_", "runner_item_on_")):
            task = task_event(event)
            self._note_task(name, task)
            self._cut_short.note_end(name, event_data(event))
            if self._reader is not None:
                self._reader.note(task)

    def _note_task(self, name: str, task: TaskEvent) -> None:
        if name == "runner_on_failed" and not task.is_ignored:
            self._seen.failed.append(task)
        elif name == "runner_on_unreachable":
            self._seen.unreachable.append(task)
        elif task.has_changed:
            text = f"{self._place(task)}: {task.task}"
            self._seen.changed.append((task.counter, text))
            if task.only_reports:
                self._seen.report_tasks.add(text)
        if task.is_requeue_request:
            self._seen.requeues.append(task)

    def _ending(self, exit_: Exit, stdout_tail: str) -> Ending:
        if exit_.ended_as is not None:
            return exit_.ended_as
        if exit_.signal is not None:
            return Ending.KILLED
        if self._seen.stats is not None:
            return Ending.FINISHED
        return Ending.KILLED if was_killed(stdout_tail, exit_.rc) else Ending.NO_RECAP

    def _reason(self, ending: Ending, exit_: Exit, stdout_tail: str) -> str:
        if ending in _TIME_LIMITS:
            return f"{exit_.reason} {self._last_task()}; stopped"
        if ending is Ending.FINISHED or exit_.reason:
            return self._redactor.text(exit_.reason)
        if exit_.signal is not None:
            return signal_text(exit_.signal)
        if ending is Ending.KILLED:
            return f"a process of the play was killed; {OUT_OF_MEMORY_HINT}"
        why = why_no_recap(stdout_tail, exit_.rc)
        play, written = self._prepared.play, self._prepared.role_play
        if written is not None:
            why = why.replace(f" ({written}:1)", f" (role `{play.fqcn or play.path.name}`)")
        return self._redactor.text(why)

    def _failures(self, exit_: Exit) -> list[TaskFailure]:
        stats = event_data(self._seen.stats or {})
        failures = [self._failure_at(task) for task in self._failed_tasks()]
        if failures or (exit_.rc == 0 and not _counts_failures(stats)):
            return failures
        # A crash after the recap, or a failed task whose event got lost.
        message = f"ansible-playbook ended with exit status {exit_.rc} after its recap"
        return [TaskFailure(message, task="", place="")]

    def _failed_tasks(self) -> list[TaskEvent]:
        """Those that nothing rescued, in order."""
        stats = event_data(self._seen.stats or {})
        lost = _last_per_host(self._seen.unreachable, host_counts(stats, "dark"))
        failed = _last_per_host(self._seen.failed, host_counts(stats, "failures"))
        return sorted([*failed, *lost], key=lambda task: task.counter)

    def _last_task(self) -> str:
        if (event := self._seen.last_start) is None:
            return "before the first task"
        task = task_event(event)
        place = self._place(task)
        return f"in task `{self._one_line(task.task)}`" + (f" ({place})" if place else "")

    def _stopped_in(self, event: Mapping[str, Any], reason: str) -> TaskFailure:
        task = task_event(event)
        name, since = self._one_line(task.task), time_of_day(event.get("created"))
        return TaskFailure(reason, name, self._place(task), task.host, since=since)

    def _one_line(self, text: str) -> str:
        return " ".join(self._redactor.text(text)[:_LONGEST_NAME].split())

    def _failure_at(self, task: TaskEvent) -> TaskFailure:
        """The failure, with name and place of the task that it is about."""
        about = self._reported_by(task) if task.is_failure_report else task
        reported = self._failure(task, needed=needed_verbs(about))
        return replace(reported, task=self._redactor.text(about.task), place=self._place(about))

    def _reported_by(self, report: TaskEvent) -> TaskEvent:
        """The task that failed before, in whose name this one failed."""
        earlier = [
            each
            for each in self._seen.failed
            if each.host == report.host and each.counter < report.counter
        ]
        return max(earlier, key=lambda each: each.counter, default=report)

    def _failure(
        self, task: TaskEvent, message: str = "", detail: str = "", needed: Sequence[str] = ()
    ) -> TaskFailure:
        said = message or task.message
        detail = detail or ("" if message else task.detail)
        whole = f"{said}\n{detail}"
        right = self._prepared.request.missing_right(whole, needed)
        way_out = way_out_of(whole) or way_out_of_missing(whole)
        return TaskFailure(
            message=self._redactor.text(said),
            task=self._redactor.text(task.task),
            place=self._place(task),
            host=task.host,
            detail=self._redactor.text("; ".join(filter(None, (right, detail, way_out)))),
        )

    def _requeue(self) -> tuple[float | None, list[TaskFailure]]:
        """The period that was asked for first, or why it could not be understood."""
        for task in sorted(self._seen.requeues, key=lambda task: task.counter):
            period = task.result.get("period")
            if task.is_censored:
                message = f"{task.requeues_as} has `no_log`, so the operator cannot read its period"
                return None, [self._failure(task, message)]
            if isinstance(period, str):
                try:
                    return parse_duration(period), []
                except DurationError as error:
                    return None, [self._failure(task, f"{task.requeues_as}: {error}")]
        return None, []

    def _recap(self) -> Recap | None:
        if self._seen.stats is None:
            return None
        stats = event_data(self._seen.stats)
        return Recap(
            **{
                what: host_counts(stats, what).get("localhost", 0)
                for what in ("ok", "changed", "skipped", "failures")
            },
            completion=completion_time(self._seen.stats.get("created")),
        )

    def _place_of_start(self, path: object) -> str:
        """Nothing for the lines that were written for this run: users cannot look at them."""
        if not isinstance(path, str) or path.rpartition(":")[0] == str(self._prepared.role_play):
            return ""
        return self._short(path)

    def _place(self, task: TaskEvent) -> str:
        path = task.path
        if path.rpartition(":")[0] == str(self._prepared.role_play):
            # Written for this run, and gone when a user looks: name what is the user's own.
            path = str(argument_specs_of(task.checked_role or self._prepared.play.path))
        return self._short(path)

    def _short(self, path: str) -> str:
        return short_place(path, self._prepared.play.path, self._project)


def _later(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of two events the one that came later in the run, whichever was reported first."""
    return one if one is not None and counter(one) > counter(other) else dict(other)


def _counts_failures(stats: Mapping[str, Any]) -> bool:
    rows = [host_counts(stats, what) for what in ("failures", "dark")]
    return any(number > 0 for row in rows for number in row.values())


def _last_per_host(tasks: list[TaskEvent], counts: Mapping[str, int]) -> list[TaskEvent]:
    """Of each host's tasks, the last so many as the recap counts."""
    by_host: dict[str, list[TaskEvent]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.counter):
        by_host[task.host].append(task)
    return [
        task
        for host, own in by_host.items()
        if (count := counts.get(host, 0)) > 0
        for task in own[-count:]
    ]
