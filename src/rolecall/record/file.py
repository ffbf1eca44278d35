"""`record.json` in a run's artifacts: written when the run is over, for its owner alone.

Readers forgive, as with `run.json`: what cannot be understood is as if it were not there.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.record.model import RecordedRequest, RecordedTask, RunRecord

RECORD_FILE = "record.json"
_LARGEST_BYTES = 64_000_000
# Where they begin; in a text, quotes have a backslash.
_REQUESTS = b', "requests": ['
_TUPLES = ("leaves", "named_items")
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


def read_record(folder: Path, *, with_requests: bool = True) -> RunRecord | None:
    """The record of the run in this folder; None where none was kept, or none that can be read.

    Without its requests, which are most of it, this takes a tenth of the time.
    """
    try:
        with (folder / RECORD_FILE).open("rb") as file:
            data = file.read(_LARGEST_BYTES)
        if not with_requests:
            head, found, _ = data.partition(_REQUESTS)
            data = head + b"}" if found else data
        values = json.loads(data)
        return RunRecord(
            run=str(values["run"]),
            began=datetime.fromisoformat(values["began"]),
            began_s=float(values["began_s"]),
            tasks=tuple(RecordedTask(**_known(RecordedTask, each)) for each in values["tasks"]),
            requests=tuple(_request(each) for each in values["requests"]) if with_requests else (),
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


def _request(values: dict[str, Any]) -> RecordedRequest:
    known: dict[str, Any] = {
        "group": "",
        "version": "",
        "resource": "",
        "subresource": "",
        "namespace": "",
        "name": "",
        **_known(RecordedRequest, values),
    }
    for name in _TUPLES:
        known[name] = tuple(known.get(name, ()))
    return RecordedRequest(**known)


def _known(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
