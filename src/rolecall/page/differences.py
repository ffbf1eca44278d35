"""Two values of JSON as the paths where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MOST = 500


def differences(then: Any, now: Any) -> list[tuple[str, Any, Any]]:
    """Path, what was there, what is there; None for nothing."""
    found = []
    for number, each in enumerate(_walk("", then, now)):
        if number >= _MOST:
            break
        found.append(each)
    return found


def _walk(path: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *(key for key in now if key not in then)]:
            yield from _walk(f"{path}.{key}", then.get(key), now.get(key))
    elif isinstance(then, list) and isinstance(now, list):
        for index in range(max(len(then), len(now))):
            old = then[index] if index < len(then) else None
            new = now[index] if index < len(now) else None
            yield from _walk(f"{path}[{index}]", old, new)
    elif then != now or type(then) is not type(now):
        yield path or ".", then, now
