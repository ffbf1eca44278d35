"""Makes a case that breaks something smaller, as long as it breaks the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_MOST_TRIES = 3000


def shrunk(case: Any, breaks: Callable[[Any], bool], most_tries: int = _MOST_TRIES) -> Any:
    """The smallest that was found: delta debugging on a JSON value, greedy, and bounded."""
    tries = 0
    is_smaller = True
    while is_smaller and tries < most_tries:
        is_smaller = False
        for candidate in _smaller(case):
            tries += 1
            if breaks(candidate):
                case, is_smaller = candidate, True
                break
            if tries >= most_tries:
                break
    return case


def _smaller(value: Any) -> Iterator[Any]:
    """Values with less in them, the smallest first."""
    if isinstance(value, str):
        yield from _smaller_sequence(value)
    elif isinstance(value, list):
        yield from _smaller_sequence(value)
        for at, item in enumerate(value):
            yield from ([*value[:at], less, *value[at + 1 :]] for less in _smaller(item))
    elif isinstance(value, dict):
        for rows in _smaller_sequence(list(value.items())):
            yield dict(rows)
        for key, item in value.items():
            yield from ({**value, key: less} for less in _smaller(item))


def _smaller_sequence(value: Any) -> Iterator[Any]:
    size = len(value)
    while size >= 1:
        for start in range(0, len(value), size):
            yield value[:start] + value[start + size :]
        size //= 2
