"""Turns the plays of a run child into plays that only plan, where its order says so.

The rules are in `planned`; this applies them to the tasks of Ansible, and notes for the plan what was
left out: a line of JSON each, in a file that the engine named. A file, and not the events: what a task
with `no_log` reports is censored, and a worker that Ansible forked writes to the file as well.

Tasks are changed in place. That is safe here alone: a run child plays one play and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rolecall.process_environ import PLAN_VARIABLE
from rolecall.runner.warm.hooks.planned import (
    Doing,
    decide_action,
    decide_module,
    may_wait,
    waits,
)

_LONGEST_TEXT = 300


class Planning:
    """Off until `renew` finds that this run plans."""

    def __init__(self) -> None:
        self._notes: Path | None = None

    def renew(self) -> None:
        """Look at the environment of the run."""
        named = os.environ.get(PLAN_VARIABLE)
        self._notes = Path(named) if named else None

    def before_task(self, task: Any, action: str, collection: str, is_genuine: bool) -> None:
        """Change a task that is about to run; the last look at it before its worker."""
        if self._notes is None:
            return
        if task.until or task.retries:
            until = [task.until] if isinstance(task.until, str) else task.until or ()
            conditions = " and ".join(str(each) for each in until)
            self._note(task, "wait", conditions or "the task to succeed")
            task.until, task.retries = [], None
        task.async_val = 0  # check mode knows no background
        decision = decide_action(action, collection, is_genuine=is_genuine)
        if decision.doing is Doing.CHECK:
            task.check_mode = True
        elif decision.doing is Doing.SKIP:
            task.when = [False]
        self._note(task, decision.kind, decision.what)

    @contextlib.contextmanager
    def module(
        self, action: Any, name_of: Callable[[], str], asked: dict[str, Any]
    ) -> Iterator[dict[str, Any] | None]:
        """What a module shall be run with instead of `asked`; None: it shall not be run."""
        if self._notes is None:
            yield asked
            return
        task, name = action._task, name_of()
        given = asked["module_args"]
        arguments = task.args if given is None else given
        environment: dict[str, Any] = {}
        action._compute_environment_string(environment)
        decision = decide_module(name, arguments, environment)
        if wanted := waits(name, arguments):
            self._note(task, "wait", wanted)
        if may_wait(name):
            asked = {**asked, "module_args": {**arguments, "wait": False}}
        if decision.doing is Doing.RUN or task.check_mode:
            yield asked
            return
        self._note(task, decision.kind, decision.what)
        if decision.doing is Doing.SKIP:
            yield None
            return
        with _in_check_mode(task):
            yield asked

    def _note(self, task: Any, kind: str, what: str) -> None:
        if not kind or self._notes is None:
            return
        line = {
            "kind": kind,
            "what": what[:_LONGEST_TEXT],
            "task": str(task.get_name())[:_LONGEST_TEXT],
            "place": str(task.get_path())[:_LONGEST_TEXT],
            "is_registered": bool(task.register),
            "at_s": time.monotonic(),
        }
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@contextlib.contextmanager
def _in_check_mode(task: Any) -> Iterator[None]:
    before = task.check_mode
    task.check_mode = True
    try:
        yield
    finally:
        task.check_mode = before
