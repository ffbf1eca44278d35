"""One run as `run.json` in its artifacts records it: written when it begins and when it has ended.

Readers forgive: the file may be of another release, half written, or a person's work. What cannot be
understood is as if it were not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rolecall.json_object import from_json

RUN_FILE = "run.json"
# The outcome of a run that never said how it ended, and whose engine is gone.
LOST = "lost"
LOST_REASON = "ended when the operator stopped"
# No run has as many tasks; a file that is larger is not ours.
_LARGEST_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class FailedTask:
    name: str
    place: str  # `roles/web/tasks/main.yml:12`
    message: str


@dataclass(frozen=True, slots=True)
class Process:
    """The engine that made the run, to find out later whether it still lives."""

    host: str = ""
    pid: int = 0
    began: str = ""  # as the system counts; distinguishes it from a later process with its pid


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run, whole or so far."""

    run: str
    kind: str = ""
    api_version: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""  # of the CR; distinguishes it from a later one with its name
    generation: int | None = None
    cause: str = ""
    is_finalizer: bool = False
    way: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    outcome: str = "running"  # running, succeeded, failed, cancelled, lost
    ending: str = ""  # `Finished`, `TimedOut` ...; see docs/concepts/runs.md
    seconds: float | None = None
    cpu_s: float | None = None
    changed_tasks: tuple[str, ...] = ()  # `roles/web/tasks/main.yml:12: name`
    failed_task: FailedTask | None = None
    reason: str = ""
    # What of the CR's objects was deleted after it, what stays and why; empty: there was nothing.
    pruned: Mapping[str, Any] = field(default_factory=dict)
    server: str = ""  # the API server of the engine, as its kubeconfig names it; empty: unknown
    engine: Process = Process()
    # Not part of the file: where it is kept, and whether there is one.
    folder: Path = field(default=Path(), compare=False)
    has_file: bool = field(default=True, compare=False)

    @property
    def stdout(self) -> Path:
        """What its play printed; a run that did not start has none."""
        return self.folder / "stdout"

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        del values["folder"], values["has_file"]
        values["began"], values["ended"] = _written(self.began), _written(self.ended)
        values["changed_tasks"] = list(self.changed_tasks)
        if not self.pruned:
            del values["pruned"]
        return values


def write_run(run: KeptRun, values: Mapping[str, Any] | None = None) -> None:
    """Write a run into its folder, whole, for us alone. `values`: what is written instead, redacted."""
    path = run.folder / RUN_FILE
    fresh = path.with_name(f".{RUN_FILE}.tmp")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        json.dump(values or run.as_json(), file, ensure_ascii=False, indent=1)
    fresh.replace(path)


def read_file(folder: Path) -> KeptRun | None:
    """What the file says; None where there is none that could be read."""
    try:
        with (folder / RUN_FILE).open("rb") as file:
            values = from_json(file.read(_LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    known = {each.name for each in fields(KeptRun)} - {"folder", "has_file"}
    read = {name: _read(name, value) for name, value in values.items() if name in known}
    understood = {name: value for name, value in read.items() if value is not None}
    return KeptRun(**{**understood, "run": folder.name, "folder": folder})


def _read(name: str, value: Any) -> Any:
    """A field as its type wants it; None where it is another."""
    wanted, convert = _FIELDS.get(name, (str, str))
    try:
        return convert(value) if isinstance(value, wanted) else None
    except OverflowError:  # a number with hundreds of digits
        return None


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _texts(values: list[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))


def _failed_task(values: dict[str, Any]) -> FailedTask:
    return FailedTask(*(str(values.get(each, "")) for each in ("name", "place", "message")))


def _engine(values: dict[str, Any]) -> Process:
    pid = values.get("pid")
    host, began = str(values.get("host", "")), str(values.get("began", ""))
    return Process(host, pid if isinstance(pid, int) else 0, began)


# What a field must be, and how it is read; a text where it is not named here.
_FIELDS: dict[str, tuple[type | tuple[type, ...], Callable[[Any], Any]]] = {
    "began": (str, _time),
    "ended": (str, _time),
    "generation": (int, int),
    "seconds": ((int, float), float),
    "cpu_s": ((int, float), float),
    "is_finalizer": (bool, bool),
    "changed_tasks": (list, _texts),
    "failed_task": (dict, _failed_task),
    "pruned": (dict, dict),
    "engine": (dict, _engine),
}


def _written(time: datetime | None) -> str | None:
    if time is None:
        return None
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
