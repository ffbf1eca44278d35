"""What a record says, in words: of a request, of what is missing, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.history import LOST, KeptRun
from rolecall.record import Phase, RecordedRequest, RecordedTask, RunRecord

OUTSIDE = "outside of any task"
_NAMED_FIELDS = 3
_LONG_START_S = 1.0
_NO_ANSWER = "-"
# In every body, and shown with the object already.
_IDENTITY = frozenset({".apiVersion", ".kind", ".metadata.name", ".metadata.namespace"})


def why_no_record(run: KeptRun) -> str:
    """Of a run whose folder has none that can be read."""
    if run.outcome == "running":
        return "it is written when the run ends"
    if run.outcome == LOST:
        return "the operator stopped before the run had ended"
    if not run.has_file:
        return "the run was not made by this release of rolecall"
    return (
        "the run was made without one: by an operator with --run-record=false, by an earlier release,"
        " or by a play that never started"
    )


def notes_on(record: RunRecord, phases: Sequence[Phase]) -> list[str]:
    """The limits of a record, for the user."""
    notes = []
    if record.incomplete:
        notes.append(f"the record is incomplete: {record.incomplete}; what came later is not in it")
    if phases and phases[0].began_s >= _LONG_START_S:
        notes.append(f"the first {phases[0].began_s:.1f}s the play was being started")
    outside = sum(len(phase.requests) for phase in phases if phase.task is None)
    if outside:
        notes.append(
            f"{_count(outside, 'request')} came {OUTSIDE}: from a job in the background, or between"
            " two tasks"
        )
    unread = sum(1 for each in record.requests if each.unread)
    if unread:
        notes.append(f"of {_count(unread, 'request')} the answer was not read; each says why")
    return notes


def summary(record: RunRecord) -> str:
    """How much there was."""
    writes = sum(1 for each in record.requests if each.is_write)
    parts = [
        _count(len(record.tasks), "task"),
        _count(len(record.requests), "request"),
        _count(writes, "write"),
    ]
    return ", ".join(parts)


def title_of(phase: Phase) -> str:
    return OUTSIDE if phase.task is None else task_title(phase.task)


def task_title(task: RecordedTask) -> str:
    """Its place and name."""
    return " ".join(filter(None, (task.place, task.name or task.action)))


def outcome_of(phase: Phase) -> str:
    if phase.task is None:
        return ""
    return phase.task.outcome or "the run ended in it"


def code_of(request: RecordedRequest) -> str:
    return str(request.code) if request.code else _NO_ANSWER


def target_of(request: RecordedRequest) -> str:
    """The object, with its namespace; of a request that is about none, its path."""
    if not request.resource:
        return request.path
    place = f" in {request.namespace}" if request.namespace else ""
    return f"{request.resource_name}{place}"


def seen_in(request: RecordedRequest) -> str:
    """What it changed, or what it showed."""
    return "; ".join(filter(None, _facts(request)))


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"


def _facts(request: RecordedRequest) -> Sequence[str]:
    return (
        "dry run" if request.is_dry_run else "",
        "the run ended before it was answered" if not request.code else "",
        _fields(request.leaves),
        "" if request.items is None else _count(request.items, "object"),
        f"not read: {request.unread}" if request.unread else "",
    )


def _fields(leaves: Sequence[str]) -> str:
    telling = [leaf for leaf in leaves if leaf not in _IDENTITY]
    if not telling:
        return ""
    more = len(telling) - _NAMED_FIELDS
    named = ", ".join(telling[:_NAMED_FIELDS])
    return f"sets {named}" + (f" and {more} more" if more > 0 else "")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
