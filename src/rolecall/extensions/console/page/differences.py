"""Two values of JSON as the paths where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MOST = 500
_DEEPEST = 50  # below, two values are compared as a whole


def differences(then: Any, now: Any) -> list[tuple[str, Any, Any]]:
    """Path, what was there, what is there; None for nothing."""
    found = []
    for number, each in enumerate(_walk("", then, now, _DEEPEST)):
        if number >= _MOST:
            break
        found.append(each)
    return found


def _walk(path: str, then: Any, now: Any, deeper: int) -> Iterator[tuple[str, Any, Any]]:
    if deeper and isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *(key for key in now if key not in then)]:
            yield from _walk(f"{path}.{key}", then.get(key), now.get(key), deeper - 1)
    elif deeper and isinstance(then, list) and isinstance(now, list):
        for index in range(max(len(then), len(now))):
            old = then[index] if index < len(then) else None
            new = now[index] if index < len(now) else None
            yield from _walk(f"{path}[{index}]", old, new, deeper - 1)
    elif then != now or type(then) is not type(now):
        yield path or ".", then, now
