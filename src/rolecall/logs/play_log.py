"""What plays say, where the Go operator's users look for it.

Raw Ansible output goes to stdout, framed; lines about tasks are log records with the texts and keys of
the Go operator, because people and test suites search for them. Events arrive in order, redacted, and
are printed in order: the Go operator starts a thread for each and mixes them up.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TextIO

from rolecall.log_fields import log_fields
from rolecall.logs.porting import BrokenConditionals
from rolecall.runner import RunEvent, RunResult
from rolecall.workqueue import Key

_logger = logging.getLogger("rolecall.logging_event_handler")
_QUIET_ACTIONS = {"set_fact", "debug"}
_WIDTH = 80


class PrintedPlays:
    """The `PlayLog` of the reconcile room."""

    def __init__(self, mode: str, *, prints_stdout: bool, stream: TextIO) -> None:
        self._mode = mode
        self._prints_stdout = prints_stdout
        self._stream = stream
        self._broken_conditionals = BrokenConditionals()

    def event(self, key: Key, run_id: str, event: RunEvent, verbosity: int) -> None:
        """Print or log one event, as the mode says."""
        self._broken_conditionals.event(event)
        if self._mode == "everything":
            self._log(logging.INFO, "", key, run_id, event, {"EventData": dict(event.data)})
            self._box(event)
        elif self._mode == "tasks" and event.data.get("task") is not None:
            if verbosity > 0:
                self._print(event.stdout)
            else:
                self._task(key, run_id, event)

    async def recap(self, key: Key, result: RunResult) -> None:
        """Print Ansible's own recap, and all of its output where debugging asks for it.

        The Go operator prints both. The whole output of a failed run holds its recap: once is enough.
        """
        place = f"{key.gvk}, {key.name}/{key.namespace}"
        stdout_file = result.artifacts / "stdout" if result.artifacts else None
        prints_all = self._prints_stdout and stdout_file is not None
        if result.recap_stdout and (result.succeeded or not prints_all):
            self._frame(f"Ansible Task Status Event StdOut ({place})", result.recap_stdout)
        if self._prints_stdout and stdout_file is not None:
            # Megabytes at times, from a disk and into a pipe that a reader must empty first.
            await asyncio.to_thread(self._whole, f"Ansible Debug Result ({place})", stdout_file)

    def _task(self, key: Key, run_id: str, event: RunEvent) -> None:
        action = str(event.data.get("task_action", "")).rpartition(".")[2]
        match event.name:
            case "playbook_on_task_start" if action not in _QUIET_ACTIONS:
                fields = {"EventData.Name": event.data.get("name", event.data["task"])}
                self._log(logging.INFO, "[playbook task start]", key, run_id, event, fields)
            case "runner_on_ok" if action == "debug":
                fields = _message_of(event) | _arguments_of(event)
                self._log(logging.INFO, "[playbook debug]", key, run_id, event, fields)
            case "runner_item_on_ok":
                self._box(event)
            case "runner_on_failed":
                self._failed(key, run_id, event)

    def _failed(self, key: Key, run_id: str, event: RunEvent) -> None:
        # No error yet: a `rescue` may mend it. Where it fails the run, the run's own line says why.
        fields = {"EventData.Task": event.data["task"]}
        if "task_path" in event.data:
            fields["EventData.FailedTaskPath"] = event.data["task_path"]
        fields |= _arguments_of(event)
        self._log(logging.INFO, "[playbook task failed]", key, run_id, event, fields)

    def _log(
        self,
        level: int,
        message: str,
        key: Key,
        run_id: str,
        event: RunEvent,
        more: dict[str, object],
    ) -> None:
        fields = {
            "name": key.name,
            "namespace": key.namespace,
            "gvk": str(key.gvk),
            "event_type": event.name,
            "job": run_id,
        }
        _logger.log(level, message, extra=log_fields(**fields | more))

    def _box(self, event: RunEvent) -> None:
        if not event.stdout:
            return
        task = event.data.get("task")
        is_start = event.name == "playbook_on_task_start"
        head = "" if task is None or is_start else f"TASK [{task}] ".ljust(_WIDTH, "*") + "\n"
        self._frame("Ansible Task StdOut", head + event.stdout)

    def _whole(self, title: str, file: Path) -> None:
        if file.is_file():
            self._frame(title, file.read_text(errors="replace"))

    def _frame(self, title: str, text: str) -> None:
        self._print(f"\n{f' {title} '.center(_WIDTH, '-')}\n{text.rstrip()}\n{'-' * _WIDTH}\n")

    def _print(self, text: str) -> None:
        if text:
            self._stream.write(text + "\n")
            self._stream.flush()


def _arguments_of(event: RunEvent) -> dict[str, object]:
    """A task's arguments, which are empty unless Ansible is configured to show them."""
    arguments = event.data.get("task_args")
    return {"EventData.TaskArgs": arguments} if arguments else {}


def _message_of(event: RunEvent) -> dict[str, object]:
    """What a debug task printed."""
    result = event.data.get("res")
    message = result.get("msg") if isinstance(result, dict) else None
    return {"EventData.Msg": message} if isinstance(message, str) else {}
