"""Writes what a play prints: the events of ansible-runner's callback, and their markers in the output.

The recording reads them as it reads those of `ansible-playbook`: an event is reported as a dict, and
its place in the output is marked with its id.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rolecall.clock import Clock
from rolecall.json_object import Json

_HOST = "localhost"
_WIDTH = 78
# As `rolecall.runner` reads it: when an event happened, on the clock that never jumps.
_AT_S = "rolecall_at_s"

# Given a report of an event and its text with both markers.
Emit = Callable[[Json, str], None]


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What every event of a task says of it."""

    name: str
    module: str  # `kubernetes.core.k8s`
    path: str  # `/.../tasks/main.yml:3`
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))

    def as_data(self) -> Json:
        return {
            "task": self.name,
            "task_uuid": self.uuid,
            "task_action": self.module,
            "resolved_action": self.module,
            "task_args": "",
            "task_path": self.path,
            "name": self.name,
            "is_conditional": False,
        }


class Events:
    """The events of one play, in order."""

    def __init__(self, emit: Emit, clock: Clock, play: str) -> None:
        self._emit, self._clock = emit, clock
        self._ids = {"playbook_uuid": str(uuid.uuid4()), "play_uuid": str(uuid.uuid4())}
        self._play = {"playbook": play, "play": _HOST, "play_pattern": _HOST, **self._ids}
        self._counts: Counter[str] = Counter()

    def play_starts(self) -> None:
        self._send("playbook_on_start", {"playbook": self._play["playbook"]}, "")
        self._send("playbook_on_play_start", {"name": _HOST}, f"\nPLAY [{_HOST}] {'*' * 40}\n")

    def task_starts(self, task: TaskFacts) -> None:
        text = f"\nTASK [{task.name}] {'*' * 40}\n"
        self._send("playbook_on_task_start", task.as_data(), text)

    def task_is_ok(self, task: TaskFacts, result: Json) -> None:
        is_changed = result.get("changed") is True
        self._counts.update(["ok", "changed"] if is_changed else ["ok"])
        self._ends("runner_on_ok", task, result, "changed" if is_changed else "ok")

    def task_is_skipped(self, task: TaskFacts) -> None:
        self._counts["skipped"] += 1
        result = {"changed": False, "skip_reason": "Conditional result was False"}
        self._ends("runner_on_skipped", task, result, "skipping")

    def task_failed(self, task: TaskFacts, result: Json, *, ignored: bool, rescued: bool) -> None:
        if ignored:
            self._counts.update(["ok", "ignored"])
        else:
            self._counts["rescued" if rescued else "failures"] += 1
        more = {"ignore_errors": True} if ignored else {}
        self._ends("runner_on_failed", task, result, "fatal", more)

    def play_ends(self) -> None:
        """The recap."""
        counts = {
            what: {_HOST: self._counts[what]} if self._counts[what] else {}
            for what in ("changed", "dark", "failures", "ignored", "ok", "rescued", "skipped")
        }
        shown = "  ".join(f"{what}={self._counts[what]}" for what in ("ok", "changed", "failures"))
        text = f"\nPLAY RECAP {'*' * 40}\n{_HOST} : {shown}\n"
        data = {**counts, "processed": {_HOST: 1}, "artifact_data": {}}
        self._send("playbook_on_stats", data, text)

    @property
    def has_failures(self) -> bool:
        """Whether the recap counts a failure."""
        return self._counts["failures"] > 0

    def _ends(
        self, event: str, task: TaskFacts, result: Json, word: str, more: Json | None = None
    ) -> None:
        data = {**task.as_data(), "host": _HOST, "remote_addr": _HOST, "res": result}
        self._send(event, data | (more or {}), f"{word}: [{_HOST}]\n")

    def _send(self, event: str, data: Json, text: str) -> None:
        event_id = str(uuid.uuid4())
        report: dict[str, Any] = {
            "uuid": event_id,
            "event": event,
            "created": self._clock.now().isoformat(),
            "event_data": {**self._play, **data, "uuid": event_id},
            _AT_S: self._clock.monotonic(),
        }
        self._emit(report, f"{_marker({'uuid': event_id})}{text}{_marker({})}")


def _marker(data: Json) -> str:
    """As `awx_display` writes it: invisible on a terminal."""
    encoded = base64.b64encode(json.dumps(data).encode()).decode()
    pieces = (encoded[start : start + _WIDTH] for start in range(0, len(encoded), _WIDTH))
    return "\x1b[K" + "".join(f"{piece}\x1b[{len(piece)}D" for piece in pieces) + "\x1b[K"
