"""`Json`: an object as the API server and Ansible speak it, not yet read into anything stricter."""

from __future__ import annotations

import json
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

Json = dict[str, Any]
_LONG_BYTES = 256 * 1024


class _PatientDecoder(json.JSONDecoder):
    """Lets other threads work in between, and takes ten times as long."""

    def __init__(self) -> None:
        super().__init__()
        self.scan_once = py_make_scanner(self)


def from_json(data: bytes) -> Any:
    """What a file says; in a thread. The loop waits for `json.loads`, which is 10 ms for a megabyte."""
    return json.loads(data, cls=_PatientDecoder if len(data) > _LONG_BYTES else None)


def as_map(value: object) -> Json:
    """The value if it is a map, else an empty one: what people and servers write may be anything."""
    return value if isinstance(value, dict) else {}
