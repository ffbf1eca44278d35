"""Keeps each event of a play in a file of `job_events/`, named and filled as ansible-runner does it.

What an event says is known by its id: from the play's own report, where it made one (`report`), else
from the file that ansible-runner's callback left. One that holds no secret is written as it came, after
one look at its text; all values of the others are looked at one by one.

Rejected: `ansible_runner.Runner.event_callback`, whose writer of JSON is Python code (2 ms for an event
of 4 KB, in which the proxy of the same process answers no request).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rolecall.clock import Clock
from rolecall.log_fields import log_fields
from rolecall.runner.contract import OnEvent
from rolecall.runner.events import event_data
from rolecall.runner.fold import Fold
from rolecall.runner.secrets import Redactor
from rolecall_base.wire import AT_S

_logger = logging.getLogger(__name__)
# A uuid; the callback numbers those that repeat.
_EVENT_ID = re.compile(r"[0-9A-Za-z-]{1,64}(_[0-9]+)?")
# Reported, and not yet found in the output: far more than a socket and a pipe can hold.
_MOST_AHEAD = 2000


def _in_utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def is_event_id(value: object) -> bool:
    return isinstance(value, str) and _EVENT_ID.fullmatch(value) is not None


class EventFiles:
    """The events of one run; `look_for_reports` is called for one without a report so far."""

    def __init__(
        self, artifacts: Path, fold: Fold, redactor: Redactor, on_event: OnEvent, clock: Clock
    ) -> None:
        self._run_id, self._folder = artifacts.name, str(artifacts / "job_events")
        self._fold, self._redactor = fold, redactor
        self._on_event, self._clock = on_event, clock
        self._reported: dict[str, dict[str, Any]] = {}
        self._is_lossy = False
        self.look_for_reports: Callable[[], object] = lambda: None

    def report(self, event: dict[str, Any]) -> None:
        """What the play reports of an event before it prints it; it may be anything."""
        uuid = event.get("uuid")
        if is_event_id(uuid) and len(self._reported) < _MOST_AHEAD:
            self._reported[str(uuid)] = event

    def take(self, event: dict[str, Any]) -> None:
        """Write one event, with what was printed, and pass it on; forged ones are left out."""
        uuid = event.get("uuid")
        if uuid is None:
            return  # the end of the output
        name = f"{event['counter']}-{uuid}.json"
        event["runner_ident"] = self._run_id
        if "event" not in event:  # else it was printed outside of events
            # What was printed, and when in the run, is known better here.
            event |= {**self._said_of(uuid), **event}
        if "created" not in event:
            event["created"] = self._clock.now().isoformat()
        at_s = self._when(event)
        text = json.dumps(event)
        is_clean = not self._redactor.may_hide(text)
        taken = self._fold.add(event, is_clean=is_clean, at_s=at_s)
        if taken is None:
            return
        if not is_clean:
            event["stdout"] = taken.stdout
            if "event_data" in event:
                event["event_data"] = taken.data
            text = json.dumps(event)
        self._on_event(taken)
        try:
            self._write(name, text)
        except OSError as error:
            self._report_loss(error)

    def mask(self) -> None:
        """Mask in what was written before a value was known to be secret."""
        for path in Path(self._folder).glob("*.json"):
            if path.name.endswith("-partial.json"):
                continue  # not an event yet, perhaps half of one: `remove_parts` comes next
            text = path.read_text(encoding="utf-8")
            if not self._redactor.may_hide(text):
                continue
            event = json.loads(text)
            masked = {
                **event,
                "stdout": self._redactor.value(event.get("stdout", "")),
                "event_data": self._redactor.event_data(event_data(event)),
            }
            if masked != event:
                self._write(path.name, json.dumps(masked))

    def remove_parts(self) -> None:
        """Remove what a run left that was ended in the middle of an event."""
        for leftover in Path(self._folder).glob("*-partial.json*"):
            leftover.unlink(missing_ok=True)

    def _when(self, event: dict[str, Any]) -> float:
        """When it happened, on the clock that never jumps: as the play says, or by `created`."""
        said = event.pop(AT_S, None)
        now_s = self._clock.monotonic()
        if isinstance(said, float) and 0 < said <= now_s:
            return said
        with contextlib.suppress(ValueError, TypeError):
            created = datetime.fromisoformat(event["created"])
            age_s = (self._clock.now() - _in_utc(created)).total_seconds()
            return now_s - max(0.0, age_s)
        return now_s

    def _said_of(self, uuid: str) -> dict[str, Any]:
        if uuid not in self._reported:
            self.look_for_reports()
        reported = self._reported.pop(uuid, None)
        return self._from_file(uuid) if reported is None else reported

    def _from_file(self, uuid: str) -> dict[str, Any]:
        path = os.path.join(self._folder, f"{uuid}-partial.json")  # noqa: PTH118 - a tenth of the time
        # Cut short by a play that was killed or a full disk, or written by any process of it.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            with open(path, encoding="utf-8") as file:  # noqa: PTH123
                found: Any = json.load(file)
            os.unlink(path)  # noqa: PTH108
            return found if isinstance(found, dict) else {}
        return {}

    def _write(self, name: str, text: str) -> None:
        """Whole, so that no reader gets half of it."""
        path = f"{self._folder}/{name}"
        fresh = f"{path}.tmp"
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            data = memoryview(text.encode())
            while data:
                data = data[os.write(file, data) :]
        finally:
            os.close(file)
        os.rename(fresh, path)  # noqa: PTH104

    def _report_loss(self, error: OSError) -> None:
        if not self._is_lossy:
            self._is_lossy = True
            _logger.warning(
                "events of this run could not be kept in its artifacts; the run goes on",
                extra=log_fields(run=self._run_id, error=error.strerror or str(error)),
            )
