"""Turns what a play prints into ansible-runner's artifacts, events for the log, and one result.

Shared by both ways of starting a run: the code that started the process feeds its output (stdout and
stderr in one stream, markers of `awx_display` included) and reports how it ended. ansible-runner's
class finds the events in the stream, and `artifacts/<run_id>` is what its readers know: `command`,
`stdout`, `stderr`, `rc`, `status`, `job_events/`, `fact_cache/`. Ours is `run.json`, for the room
`history`. In between sits the redactor; a value that turns out to be secret late is masked in the files
that were written before.

Rejected: `ansible_runner.Runner.run()`, which starts the process itself on a pseudo terminal, waits for
it in steps of seconds, and reaches only part of what it started when it must end it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ansible_runner.utils import OutputEventFilter

from rolecall.clock import Clock, SystemClock
from rolecall.history import KeptRun, write_run
from rolecall.log_fields import log_fields
from rolecall.runner.artifacts import Rotation, point_latest, rotate
from rolecall.runner.artifacts_budget import budget_of
from rolecall.runner.contract import Ending, OnEvent, RunResult
from rolecall.runner.event_files import EventFiles, is_event_id
from rolecall.runner.fold import Exit, Fold
from rolecall.runner.folders import write_private
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.run_file import run_that_begins, run_that_ended
from rolecall.runner.scratch import sweep_leftovers
from rolecall.runner.secrets import Redactor
from rolecall.settings import RunnerSettings

_logger = logging.getLogger(__name__)
# Enough to hold the last words of a play that broke.
_TAIL_BYTES = 64 * 1024
# ansible-runner's words for the `status` file.
_STATUS = {
    Ending.TIMED_OUT: "timeout",
    Ending.NO_PROGRESS: "timeout",
    Ending.CANCELLED: "canceled",
}


class _RedactedFile:
    """A text file that only we may read, and that never holds a known secret."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file: IO[str] = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace")
        self._redactor = redactor

    def write(self, text: str) -> None:
        self._file.write(self._redactor.text(text))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _EventFilter(OutputEventFilter):  # type: ignore[misc]  # ansible-runner ships no types
    """Finds events in the stream, and takes nothing from a marker but the event's id.

    Text of a CR may be printed, a task's name for one, and may look like a marker. All that an event
    says comes from the play's callback by another way; an id that it did not report is not an event.
    """

    def _emit_event(
        self, buffered_stdout: str, next_event_data: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        uuid = next_event_data.get("uuid") if isinstance(next_event_data, dict) else None
        found: dict[str, Any] = super()._emit_event(
            buffered_stdout, {"uuid": uuid} if is_event_id(uuid) else None
        )
        return found


class Recording:
    """One run's artifacts, redacted events and result. Blocking file I/O: call it off the loop."""

    def __init__(
        self,
        prepared: PreparedRun,
        settings: RunnerSettings,
        on_event: OnEvent,
        clock: Clock | None = None,
    ) -> None:
        """Make the run's files. `on_event` is called in the thread that feeds."""
        self._prepared = prepared
        self._settings = settings
        self._clock = clock or SystemClock()
        request = prepared.request
        self._redactor = Redactor.for_run(request.cr, request.kubeconfig)
        self._redactor.learn(request.variables)
        self._fold = Fold(prepared, self._redactor)
        self._known_at_start = self._redactor.known
        self._events = EventFiles(
            prepared.artifacts, self._fold, self._redactor, on_event, self._clock
        )
        now, server = self._clock.now(), settings.server
        self._kept = run_that_begins(request, settings.way, prepared.artifacts, now, server)
        self._make_files()
        self._stdout = _RedactedFile(prepared.artifacts / "stdout", self._redactor)
        self._filter = _EventFilter(self._stdout, self._events.take, suppress_ansible_output=True)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._stdout.close()  # also where something could not be written

    def feed(self, text: str) -> None:
        """Take the next piece of the process's output, cut anywhere."""
        self._learn_seen()
        self._filter.write(text)

    def report(self, event: dict[str, Any]) -> None:
        """Take what the play reports of an event, before or after its output is fed."""
        self._events.report(event)

    def look_for_reports_with(self, look: Callable[[], object]) -> None:
        """Have this called when an event comes of which nothing was reported so far."""
        self._events.look_for_reports = look

    def finish(self, exit_: Exit) -> RunResult:
        """The end of the recording; returns the result. Call exactly once."""
        result = self.end(exit_)
        self.tidy(exit_)
        return result

    def end(self, exit_: Exit) -> RunResult:
        """Write rc, status and run.json, mask what was learnt late; what is left is `tidy`.

        What is left beside them comes first: who reads that a run has ended finds all of it.
        """
        self._learn_seen()
        self._filter.close()
        result = self._fold.result(exit_, self._tail())
        with contextlib.suppress(OSError):
            self._prepared.request.leave_beside(self._prepared.artifacts)
        self._write_ending(result)
        if self._redactor.known > self._known_at_start:
            self._redact_files()
        if result.rc == 0 and not self._prepared.request.is_awaited:
            # Users' own e2e tests wait for these words of the Go operator.
            _logger.info("Ansible-runner exited successfully", extra=log_fields(run=result.run_id))
        return result

    def tidy(self, exit_: Exit) -> None:
        """Remove what only this run needed, point `latest`, rotate; what cannot be done, is not."""
        for step in (self._prepared.clean_up, lambda: self._tidy(was_ended=exit_.rc is None)):
            with contextlib.suppress(OSError):
                step()

    def _learn_seen(self) -> None:
        """Learn what a lookup read, say: its values may be printed where no event shows the Secret."""
        for secret in self._prepared.request.seen_secrets():
            self._redactor.learn(secret)

    def _make_files(self) -> None:
        folder, config = self._prepared.artifacts, self._prepared.config
        (folder / "job_events").mkdir(mode=0o700, exist_ok=True)
        command = {"command": list(self._prepared.command), "cwd": config.cwd, "env": config.env}
        self._keep(self._kept)  # first: a folder with a command and without it is of a lost run
        self._write("command", json.dumps(self._redactor.value(command), ensure_ascii=False))
        self._write("stderr", "")  # both streams are one, in `stdout`, as they came

    def _tail(self) -> str:
        with (self._prepared.artifacts / "stdout").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read().decode(errors="replace")

    def _write_ending(self, result: RunResult) -> None:
        status = _STATUS.get(result.ending, "successful" if result.rc == 0 else "failed")
        self._write("rc", str(result.rc))
        self._write("status", status)
        self._keep(run_that_ended(self._kept, result, self._clock.now()))

    def _keep(self, run: KeptRun) -> None:
        write_run(run, self._redactor.value(run.as_json()))

    def _redact_files(self) -> None:
        """Mask in what was written before a value was known to be secret."""
        folder = self._prepared.artifacts
        stdout = (folder / "stdout").read_text(encoding="utf-8", errors="replace")
        self._write("stdout", self._redactor.text(stdout))
        self._events.mask()

    def _write(self, name: str, text: str) -> None:
        """Write an artifact whole, so that no reader gets half of it."""
        path = self._prepared.artifacts / name
        fresh = path.with_name(f"{path.name}.tmp")
        write_private(fresh, text)
        fresh.replace(path)

    def _tidy(self, *, was_ended: bool) -> None:
        folder, request = self._prepared.artifacts, self._prepared.request
        self._events.remove_parts()
        point_latest(folder.parent, request.run_id)
        limits = Rotation(
            request.keep_artifacts, self._settings.keep_days, self._settings.keep_bytes
        )
        now = self._clock.now().timestamp()
        rotate(folder.parent, request.run_id, limits, now)
        if self._settings.keep_total_bytes is not None:
            budget_of(self._settings.root, self._settings.keep_total_bytes).add(folder)
        if was_ended:
            sweep_leftovers(self._prepared.env, now)
