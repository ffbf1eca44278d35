"""Finds whether a run that succeeded came to the end of its tasks.

Pruning takes what a run did not do for what it no longer wants, so it needs this. A run is cut short
where a task failed and was ignored or rescued, and where a `meta` task ended the play, the batch, the
host or the role early, or where `failed_when` took a failure for a success. Of a `meta` task only its
start is reported, and, where its condition was false, that it was skipped: what began and was not
skipped has happened. No event says what it did, so its lines in the role are looked at; where they
cannot be read, it counts as an end.

Rejected: counting tasks. Includes and loops make their number differ between two runs that both did
all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from rolecall.runner.events import host_counts

_META = frozenset({"meta", "ansible.builtin.meta", "ansible.legacy.meta"})
_ENDING = re.compile(r"\b(end_play|end_host|end_batch|end_role|clear_host_errors)\b")
_HARMLESS = re.compile(
    r"\b(flush_handlers|noop|refresh_inventory|clear_facts|reset_connection|role_complete)\b"
)
_FAILED_WHEN = re.compile(r"^\s*(- )?failed_when\s*:", re.MULTILINE)
_GOOD_STATUS = range(200, 400)
_MOST_LINES = 40


class CutShort:
    def __init__(self) -> None:
        self._begun: dict[str, str] = {}  # `meta` tasks: place by uuid
        self._hidden = ""  # why a failure that a task had counts for nothing, or may
        self._unseen: set[str] = set()  # places of tasks whose results were hidden

    def note_start(self, data: Mapping[str, Any]) -> None:
        """A task began."""
        if str(data.get("task_action")) in _META:  # it may be anything that the play reports
            self._begun[str(data.get("task_uuid"))] = str(data.get("task_path") or "")

    def note_end(self, name: str, data: Mapping[str, Any]) -> None:
        """A task ended somehow."""
        if self._begun and name == "runner_on_skipped":
            self._begun.pop(str(data.get("task_uuid")), None)
        result = data.get("res")
        if name == "runner_on_ok" and isinstance(result, dict) and not self._hidden:
            self._hidden = _hidden_failure(str(data.get("task") or ""), result)
            if "censored" in result:
                self._unseen.add(str(data.get("task_path") or ""))

    def why(self, stats: Mapping[str, Any]) -> str:
        """Given the recap: why the run was cut short; empty where it was not. May read files."""
        if any(host_counts(stats, "rescued").values()):
            return "a task failed and was rescued"
        if any(host_counts(stats, "ignored").values()):
            return "a task failed and was ignored"
        if self._hidden:
            return self._hidden
        if any(_FAILED_WHEN.search(_task_at(place)) for place in self._unseen):
            return "`no_log` hides whether a task with `failed_when` failed"
        endings = (_ending_at(place) for place in self._begun.values())
        ending = next(filter(None, endings), "")
        return f"it was ended early by `{ending}`" if ending else ""


def _hidden_failure(task: str, result: Mapping[str, Any]) -> str:
    items = result.get("results")
    for each in (result, *(items if isinstance(items, list) else ())):
        if not isinstance(each, dict):
            continue
        if "exception" in each or "failed_when_suppressed_exception" in each:
            return f"task `{task}` had an error and counts as a success"
        if each.get("failed_when_result") is False and _looks_failed(each):
            return f"task `{task}` failed, and `failed_when` took it for a success"
        if "ansible_job_id" in each and not each.get("finished"):
            return f"task `{task}` went on in the background"
    return ""


def _looks_failed(result: Mapping[str, Any]) -> bool:
    """Whether a result would have been a failure without `failed_when`, as far as can be seen."""
    status, code = result.get("status"), result.get("rc")
    if isinstance(status, int):
        return status not in _GOOD_STATUS
    return bool(code) or bool(result.get("error") or (code is None and result.get("msg")))


def _task_at(place: str) -> str:
    """The lines of the task at `FILE:LINE`; empty where they cannot be read."""
    file, _, line = place.rpartition(":")
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            return _task_text(list(islice(lines, int(line) - 1, int(line) - 1 + _MOST_LINES)))
    except (OSError, ValueError):
        return ""


def _ending_at(place: str) -> str:
    """Which early end the task at `FILE:LINE` is; empty where it is none."""
    text = _task_at(place)
    if found := _ENDING.search(text):
        return found[1]
    return "" if _HARMLESS.search(text) else "meta"


def _task_text(lines: list[str]) -> str:
    """The lines of the first task of these."""
    indent = _indent(lines[0]) if lines else 0
    kept = lines[:1]
    for line in lines[1:]:
        if line.strip() and _indent(line) <= indent:
            break
        kept.append(line)
    return "".join(kept)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
