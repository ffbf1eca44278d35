"""The tasks of roles and playbooks, with their places, however deep in blocks they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import as_map
from rolecall_dev.sources.documents import Document
from rolecall_dev.sources.findings import Line

BLOCKS = ("block", "rescue", "always")
_LISTS_OF_TASKS = ("pre_tasks", "tasks", "post_tasks", "handlers")
# Keys of a task that name no module. A module is the one key that is left.
_WORDS = """
action any_errors_fatal args async become become_exe become_flags become_method become_user break_when
changed_when check_mode collections connection debugger delay delegate_facts delegate_to diff
environment failed_when ignore_errors ignore_unreachable listen local_action loop loop_control
module_defaults name no_log notify poll port register remote_user retries run_once tags throttle
timeout until vars when
"""
KEYWORDS = frozenset(_WORDS.split())

Step = str | int


@dataclass(frozen=True, slots=True)
class Task:
    """One task, block, play or entry of `roles`: whatever has conditions."""

    document: Document
    path: tuple[Step, ...]
    data: dict[str, Any]

    @property
    def module(self) -> str:
        """The module's name as it was written; empty for a block."""
        return next(iter(self.modules), "")

    @property
    def modules(self) -> list[str]:
        """The keys that can only be modules: one, if all is well."""
        return [
            key
            for key in self.data
            if isinstance(key, str)
            and not (key in KEYWORDS or key in BLOCKS or key.startswith("with_"))
        ]

    @property
    def arguments(self) -> Any:
        """The module's arguments: a map, or text."""
        return self.data.get(self.module)

    @property
    def named_arguments(self) -> dict[str, Any]:
        """The arguments by their names, `key=value` and `args` too."""
        given = self.arguments
        own = given if isinstance(given, dict) else _words(given)
        return {**own, **as_map(self.data.get("args"))}

    @property
    def short(self) -> str:
        return self.module.rsplit(".", 1)[-1]

    def line(self, *path: Step) -> Line:
        return self.document.line(*self.path, *path)

    @property
    def has_loop(self) -> bool:
        """Whether it runs once for each item."""
        return any(key == "loop" or str(key).startswith("with_") for key in self.data)


def tasks_of_file(document: Document) -> Iterator[Task]:
    """The tasks of a task file or a playbook; what is neither has none."""
    for index, entry in enumerate(_list(document.data)):
        if isinstance(entry, dict):
            is_play = "hosts" in entry
            yield from (
                _play(document, index, entry) if is_play else _below(document, (index,), entry)
            )


def dependencies_of(document: Document) -> Iterator[Task]:
    """The roles that `meta/main.yml` names; they may have conditions."""
    for index, entry in enumerate(_list(as_map(document.data).get("dependencies"))):
        data = entry if isinstance(entry, dict) else {"role": entry}
        yield Task(document, ("dependencies", index), data)


def is_play(task: Task) -> bool:
    """Whether it is a play and no task."""
    return "hosts" in task.data


def _play(document: Document, index: int, play: dict[str, Any]) -> Iterator[Task]:
    yield Task(document, (index,), play)
    for place in (*_LISTS_OF_TASKS, "roles"):
        for number, entry in enumerate(_list(play.get(place))):
            if isinstance(entry, dict):
                yield from _below(document, (index, place, number), entry)


def _below(document: Document, path: tuple[Step, ...], data: dict[str, Any]) -> Iterator[Task]:
    yield Task(document, path, data)
    for place in BLOCKS:
        for index, entry in enumerate(_list(data.get(place))):
            if isinstance(entry, dict):
                yield from _below(document, (*path, place, index), entry)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: Any) -> dict[str, Any]:
    """`key=value` arguments."""
    parts = [part.partition("=") for part in str(value or "").split()]
    return {key: text for key, equals, text in parts if equals}
