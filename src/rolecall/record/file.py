"""`record.json` in a run's artifacts: written when the run is over, for its owner alone.

Readers forgive, as with `run.json`: what cannot be understood is as if it were not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.record.model import NO_TASK, RecordedRequest, RecordedTask, RunRecord

RECORD_FILE = "record.json"
_LARGEST_BYTES = 64_000_000
# Where they begin; in a text, quotes have a backslash.
_REQUESTS = b', "requests": ['
_TUPLES = ("leaves", "named_items")
_NO_OBJECT = dict.fromkeys(("group", "version", "resource", "subresource", "namespace", "name"), "")
_DECODER = json.JSONDecoder()
_TASK, _REQUEST = (
    tuple(each.name for each in fields(kind)) for kind in (RecordedTask, RecordedRequest)
)


def write_record(folder: Path, record: RunRecord) -> None:
    """Write it whole, so that no reader gets half of it."""
    fresh = folder / f".{RECORD_FILE}.tmp"
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(record_json(record), ensure_ascii=False))
    fresh.replace(folder / RECORD_FILE)


def read_record(
    folder: Path, *, with_requests: bool = True, of_task: str | None = None
) -> RunRecord | None:
    """The record of the run in this folder; None where none was kept, or none that can be read.

    Without its requests, which are most of it, this takes a tenth of the time. `of_task`: a uuid;
    requests of other tasks are left out where tasks come first, which takes half of the time.
    """
    try:
        with (folder / RECORD_FILE).open("rb") as file:
            data = file.read(_LARGEST_BYTES)
        if not with_requests:
            head, found, _ = data.partition(_REQUESTS)
            data = head + b"}" if found else data
        values = _Pieces(data.decode(), of_task).values()
        return RunRecord(
            run=str(values["run"]),
            began=datetime.fromisoformat(values["began"]),
            began_s=float(values["began_s"]),
            tasks=values["tasks"],
            requests=values["requests"] if with_requests else (),
            ended_s=values.get("ended_s"),
            incomplete=str(values.get("incomplete", "")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def record_json(record: RunRecord) -> dict[str, Any]:
    """As it stands in the file."""
    return {
        "run": record.run,
        "began": record.began.isoformat(),
        "began_s": record.began_s,
        "ended_s": record.ended_s,
        "incomplete": record.incomplete,
        "tasks": [_values(task, _TASK) for task in record.tasks],
        "requests": [_said(_values(request, _REQUEST)) for request in record.requests],
    }


def _values(of: object, names: tuple[str, ...]) -> dict[str, Any]:
    """`dataclasses.asdict` copies what it finds, which takes longer than all else here."""
    return {name: getattr(of, name) for name in names}


def _said(values: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing: most fields of most requests."""
    return {key: value for key, value in values.items() if value not in ("", (), None)}


class _Pieces:
    """JSON item by item: nothing else runs in this process while `json.loads` reads megabytes."""

    def __init__(self, text: str, of_task: str | None = None) -> None:
        self._text, self._at, self._of_task = text, 0, of_task

    def values(self) -> dict[Any, Any]:
        found = {}
        self._expect("{")
        while not self._comes("}"):
            key = self._value()
            self._expect(":")
            make = _MADE.get(key)
            if make is None:
                found[key] = self._value()
            else:
                found[key] = tuple(map(make, self._asked_for(key, found.get("tasks", ()))))
            self._comes(",")
        return found

    def _asked_for(self, key: Any, tasks: Sequence[RecordedTask]) -> Iterator[Any]:
        if key != "requests" or self._of_task is None or not tasks:
            return self._items()
        numbers = {number for number, each in enumerate(tasks) if each.uuid == self._of_task}
        return (each for each in self._items() if each.get("task", NO_TASK) in numbers)

    def _items(self) -> Iterator[Any]:
        self._expect("[")
        while not self._comes("]"):
            yield self._value()
            self._comes(",")

    def _value(self) -> Any:
        self._comes("")
        value, self._at = _DECODER.raw_decode(self._text, self._at)
        return value

    def _expect(self, sign: str) -> None:
        if not self._comes(sign):
            raise ValueError(sign)

    def _comes(self, sign: str) -> bool:
        """Whether this is next, after white space; go beyond it."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        is_next = self._text.startswith(sign, self._at)
        self._at += len(sign) * is_next
        return is_next


def _task(values: dict[str, Any]) -> RecordedTask:
    return RecordedTask(**{name: values[name] for name in _TASK if name in values})


def _request(values: dict[str, Any]) -> RecordedRequest:
    known = _NO_OBJECT | {name: values[name] for name in _REQUEST if name in values}
    for name in _TUPLES:
        known[name] = tuple(known.get(name, ()))
    return RecordedRequest(**known)


_MADE: dict[Any, Callable[[Any], Any]] = {"tasks": _task, "requests": _request}
