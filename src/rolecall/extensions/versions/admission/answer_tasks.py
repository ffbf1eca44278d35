"""What a play of admission answered: denials, warnings and a patch, out of its tasks' results.

A failed `assert` or `fail` is a denial; any other failure is a fault of the play, also one of these two
whose own text could not be computed. Where it is not clear which it is, it counts as a denial, since
that stops the request whatever `failurePolicy` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.runner import TaskEvent

PATCH = "admission_patch"
_ASSERTS = frozenset({"assert", "ansible.builtin.assert"})
_FAILS = frozenset({"fail", "ansible.builtin.fail", "rolecall.operator.refuse"})
_SAYS = frozenset({"debug", "ansible.builtin.debug"})
_SETS = frozenset({"set_fact", "ansible.builtin.set_fact"})
# How ansible-core begins where it could not compute a task's arguments or condition.
_NOT_COMPUTED = re.compile(
    r"Task failed: (?:Finalization of task args|Error while|A '\w+' expression failed)"
    r"|The task includes an option with an undefined variable"
    r"|The conditional check '"
    r"|(?:An unhandled exception occurred while|template error while) templating"
)
_HIDDEN = "denied; the reason is hidden by `no_log`"


@dataclass(frozen=True, slots=True)
class PlayAnswer:
    """What a play of admission answered; texts are redacted, and as long as the play made them."""

    denials: Sequence[str] = ()  # empty where it failed for anything but `assert` and `fail`
    warnings: Sequence[str] = ()  # what `debug` said
    patch: Any = None  # the fact `admission_patch`, as it was set last; not redacted: never log it
    unread: str = ""  # why a patch that may have been set is not known


class AnswerTasks:
    """The `PlayReader` of a play of admission."""

    def __init__(self) -> None:
        self._said: list[tuple[int, str]] = []
        self._patches: list[tuple[int, Any]] = []
        self._failed_items: list[TaskEvent] = []
        self._ends: list[int] = []  # where tasks ended, whatever they came to
        self._unread = ""

    def note(self, task: TaskEvent) -> None:
        if task.name == "runner_item_on_failed":
            self._failed_items.append(task)
        elif task.name.startswith("runner_on_") and task.name != "runner_on_start":
            self._ends.append(task.counter)
        if task.name not in ("runner_on_ok", "runner_item_on_ok"):
            return
        actions = {task.action, task.resolved_action}
        if actions & _SAYS:
            self._said += [(task.counter, text) for text in _texts(task.result.get("msg"))]
        elif actions & _SETS:
            self._note_facts(task)

    def answer(self, failed: Sequence[TaskEvent], mask: Callable[[str], str]) -> PlayAnswer:
        parts = [part for task in failed for part in self._parts(task)]
        is_denial = bool(parts) and all(_is_denial(part) for part in parts)
        denials = [text for part in parts for text in _messages(part)] if is_denial else []
        last = max(self._patches, key=lambda row: row[0], default=(0, None))
        return PlayAnswer(
            denials=tuple(mask(text) for text in dict.fromkeys(denials)),
            warnings=tuple(mask(text) for _, text in sorted(self._said)),
            patch=_plain(last[1]),
            unread="" if self._patches else self._unread,
        )

    def _parts(self, task: TaskEvent) -> list[TaskEvent]:
        """The items that failed, where the task is a loop; else the task itself.

        Not out of the task's own result: of its items, a newer ansible-core does not say which failed.
        """
        before = max((end for end in self._ends if end < task.counter), default=0)
        items = [
            item
            for item in self._failed_items
            if before < item.counter < task.counter and item.host == task.host
        ]
        return sorted(items, key=lambda item: item.counter) or [task]

    def _note_facts(self, task: TaskEvent) -> None:
        facts = task.result.get("ansible_facts")
        if isinstance(facts, dict) and PATCH in facts:
            self._patches.append((task.counter, facts[PATCH]))
        elif task.is_censored:
            self._unread = f"a `set_fact` has `no_log`, so `{PATCH}` cannot be read"
        elif not task.result:
            self._unread = f"`{PATCH}` is too large to be read"


def _is_denial(task: TaskEvent) -> bool:
    actions = {task.action, task.resolved_action}
    if not actions & (_ASSERTS | _FAILS):
        return False
    return task.is_censored or _was_computed(task.result, is_assert=bool(actions & _ASSERTS))


def _was_computed(result: Mapping[str, Any], *, is_assert: bool) -> bool:
    if is_assert:
        return result.get("evaluated_to") is False
    message = result.get("msg")
    return not (isinstance(message, str) and _NOT_COMPUTED.match(message))


def _messages(task: TaskEvent) -> Iterator[str]:
    if task.is_censored:
        yield _HIDDEN
        return
    yield from list(_texts(task.result.get("msg"))) or [f"denied by task `{task.task}`"]


def _texts(message: Any) -> Iterator[str]:
    """A message's texts: it is one, or a list of them."""
    for each in message if isinstance(message, list) else [message]:
        if isinstance(each, (str, int, float)) and not isinstance(each, bool) and str(each).strip():
            yield str(each)


def _plain(value: Any) -> Any:
    """Without the marks of an older ansible-core for unsafe text."""
    if isinstance(value, dict):
        if set(value) == {"__ansible_unsafe"}:
            return value["__ansible_unsafe"]
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
