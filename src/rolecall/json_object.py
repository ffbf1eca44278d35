"""`Json`: an object as the API server and Ansible speak it, not yet read into anything stricter."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def as_map(value: object) -> Json:
    """The value if it is a map, else an empty one: what people and servers write may be anything."""
    return value if isinstance(value, dict) else {}
