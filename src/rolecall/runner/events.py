"""Reads ansible-runner's job events: one raw dict in, the few facts that a run's result needs out.

Tolerates anything: events come from a process that roles and modules can write into, so every field
may be missing, censored by `no_log`, dropped for its size, or of an unexpected type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Of `no_log` results only this key is left.
_CENSORED = "censored"
_REPORT, _REPORT_FAILURE = "rolecall.operator.report", "rolecall.operator.report_failure"
_REQUEUE_ACTIONS = frozenset({"requeue_after", "operator_sdk.util.requeue_after", _REPORT})
# What they write brings no CR back: status of any object, and Events.
_REPORT_ACTIONS = frozenset(
    (
        *("k8s_status", "operator_sdk.util.k8s_status"),
        *("k8s_event", "operator_sdk.util.k8s_event"),
        *(_REPORT, _REPORT_FAILURE),
    )
)
_CREATED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00:00|Z)")
# How much of a failed command's stderr helps, in a message of one line.
_DETAIL_LENGTH = 300
# Of a loop of which many items failed.
_MOST_MESSAGES, _MOST_LABELS = 2, 3


@dataclass(frozen=True, slots=True)
class TaskEvent:
    """One event about one task on one host, with defaults where Ansible said nothing."""

    name: str
    counter: int
    host: str
    task: str
    action: str
    resolved_action: str
    path: str  # `/.../tasks/main.yml:12`
    result: Mapping[str, Any]
    is_ignored: bool

    @property
    def is_censored(self) -> bool:
        """Whether `no_log` hid the result."""
        return _CENSORED in self.result

    @property
    def has_changed(self) -> bool:
        return self.name == "runner_on_ok" and self.result.get("changed") is True

    @property
    def is_requeue_request(self) -> bool:
        """Whether a `requeue_after` went well (its loop items count too)."""
        is_ok = self.name in ("runner_on_ok", "runner_item_on_ok")
        return is_ok and bool({self.action, self.resolved_action} & _REQUEUE_ACTIONS)

    @property
    def requeues_as(self) -> str:
        """How the author of a role calls what asked for the next reconcile."""
        is_report = _REPORT in (self.action, self.resolved_action)
        return "`again` of `report`" if is_report else "`requeue_after`"

    @property
    def is_failure_report(self) -> bool:
        """Whether it failed in the name of an earlier task, which it reported."""
        return _REPORT_FAILURE in (self.action, self.resolved_action)

    @property
    def only_reports(self) -> bool:
        """Whether what it changes is news for people, and runs no CR."""
        return bool({self.action, self.resolved_action} & _REPORT_ACTIONS)

    @property
    def checked_role(self) -> Path | None:
        """The role whose arguments this task checked."""
        context = self.result.get("validate_args_context")
        path = context.get("path") if isinstance(context, dict) else None
        return Path(path) if isinstance(path, str) and path else None

    @property
    def message(self) -> str:
        """What a failed task says, or the Go operator's text where it says nothing."""
        message = self.result.get("msg")
        return message if isinstance(message, str) and message else "unknown playbook failure"

    @property
    def detail(self) -> str:
        """The cause behind a message that does not name it."""
        if self.is_censored:
            return "its output is hidden by `no_log`"
        if items := _failed_items(_list(self.result.get("results"))):
            return items
        said = self.result.get("stderr") or self.result.get("module_stderr")
        if isinstance(said, str) and said.strip():
            return _one_line(said, keep_end=True)
        if isinstance(why := self.result.get("reason"), str):  # of an include that failed
            return _one_line(why)
        code = self.result.get("rc")
        return f"exit status {code}" if isinstance(code, int) and code != 0 else ""


def task_event(event: Mapping[str, Any]) -> TaskEvent:
    data = event_data(event)
    result = data.get("res")
    return TaskEvent(
        name=_text(event.get("event")),
        counter=counter(event),
        host=_text(data.get("host")) or "localhost",
        task=_text(data.get("task")),
        action=_text(data.get("task_action")),
        resolved_action=_text(data.get("resolved_action")),
        path=_text(data.get("task_path")),
        result=result if isinstance(result, dict) else {},
        is_ignored=data.get("ignore_errors") is True,
    )


def event_data(event: Mapping[str, Any]) -> dict[str, Any]:
    data = event.get("event_data")
    return data if isinstance(data, dict) else {}


def counter(event: Mapping[str, Any]) -> int:
    """The event's place in the run."""
    value = event.get("counter")
    return value if isinstance(value, int) else 0


def host_counts(stats: Mapping[str, Any], what: str) -> dict[str, int]:
    """One row of the recap: host to number."""
    row = stats.get(what)
    if not isinstance(row, dict):
        return {}
    return {str(host): number for host, number in row.items() if isinstance(number, int)}


def completion_time(created: Any) -> str:
    """When the recap came, as Go prints it: up to 8 digits of fraction, no trailing zeros."""
    match = _CREATED.fullmatch(created) if isinstance(created, str) else None
    if match is None:
        return ""
    fraction = (match[2] or "")[:8].rstrip("0")
    return f"{match[1]}{'.' if fraction else ''}{fraction}+00:00"


def time_of_day(created: Any) -> str:
    """When an event came, as people read it."""
    match = _CREATED.fullmatch(created) if isinstance(created, str) else None
    return f"{match[1][11:]} UTC" if match is not None else ""


def short_place(path: str, role_or_playbook: Path, project: Path) -> str:
    """`roles/app/tasks/main.yml:12` within the project, the collection's own path within it."""
    for root in (project, role_or_playbook.parent.parent, role_or_playbook.parent):
        prefix = f"{root}/"
        if len(prefix) > 2 and path.startswith(prefix):
            return path[len(prefix) :]
    _, mark, inside = path.rpartition("/ansible_collections/")
    return inside if mark else path


def argument_specs_of(role: Path) -> Path:
    """The file that says which arguments a role takes; the role where it has none."""
    names = ("argument_specs.yml", "argument_specs.yaml", "main.yml", "main.yaml")
    files = (role / "meta" / name for name in names)
    return next((file for file in files if file.is_file()), role)


def _failed_items(items: list[Any]) -> str:
    """Each message of failed items once, with the items that failed so; empty where none did."""
    labels: dict[str, list[str]] = {}
    for item in items:
        if isinstance(item, dict) and item.get("failed") and isinstance(item.get("msg"), str):
            label = item.get("_ansible_item_label", item.get("item"))
            named = f"`{label}`" if isinstance(label, (str, int)) else ""
            labels.setdefault(item["msg"], []).append(named)
    texts = [_one_line(_of_items(named) + said) for said, named in labels.items()]
    more = sum(map(len, [*labels.values()][_MOST_MESSAGES:]))
    return "; ".join([*texts[:_MOST_MESSAGES], *([f"{more} more items failed"] if more else [])])


def _of_items(labels: list[str]) -> str:
    named = [label for label in labels if label][:_MOST_LABELS]
    if not named:
        return ""
    more = f" and {len(labels) - len(named)} more" if len(labels) > len(named) else ""
    return f"item{'s' if len(labels) > 1 else ''} {', '.join(named)}{more}: "


def _one_line(text: str, *, keep_end: bool = False) -> str:
    line = " ".join(text.split())
    if len(line) <= _DETAIL_LENGTH:
        return line
    cut = _DETAIL_LENGTH - 4
    return f"... {line[-cut:]}" if keep_end else f"{line[:cut]} ..."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
