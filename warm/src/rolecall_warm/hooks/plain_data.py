"""Copies plain data without asking of each part what Ansible might make of it.

Since 2.19, what a task came to is made native before callbacks see it, and again before it is printed:
a stack of contexts for each part of it, 2.6 ms for 3 KB each time. For exact dictionaries, lists,
texts, numbers, booleans and nothing, all of that comes to a copy of the containers, which takes 0.07 ms
here. Whatever has a tag, another type, or more levels than people write, goes Ansible's way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SCALARS = frozenset({str, int, float, bool, type(None)})
# Where Ansible would run out of stack, so must we.
_MOST_LEVELS = 50


class _NotPlainError(Exception):
    """There is something that Ansible has to look at."""


def transform(original: Callable[..., Any], engine: Any, variable: Any) -> Any:
    """The stand-in for `TemplateEngine.transform`."""
    try:
        return _copy_of(variable, _MOST_LEVELS)
    except _NotPlainError:
        return original(engine, variable)


def to_native_types(original: Callable[..., Any], value: Any, *args: Any, **more: Any) -> Any:
    """The stand-in for `transform_to_native_types`."""
    try:
        return _copy_of(value, _MOST_LEVELS)
    except _NotPlainError:
        return original(value, *args, **more)


def _copy_of(value: Any, levels: int) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if levels == 0:
        raise _NotPlainError
    if kind is list:
        return [_copy_of(part, levels - 1) for part in value]
    if kind is not dict:
        raise _NotPlainError
    for key in value:
        if type(key) is not str:
            raise _NotPlainError
    return {key: _copy_of(part, levels - 1) for key, part in value.items()}
