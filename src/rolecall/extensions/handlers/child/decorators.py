"""kopf's decorators, with our wrapping around each function; for files that are imported afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kopf

from rolecall.extensions.handlers.child.calls import Calls, Registered

_OF_OBJECTS = (
    *("create", "update", "delete", "resume", "field", "event"),
    *("timer", "daemon", "index", "subhandler", "validate", "mutate"),
)
_AT_THE_TOP = ("timer", "daemon", "index", "subhandler")  # `kopf.timer` as well as `kopf.on.timer`
_END_S = 10.0
Decorator = Callable[..., Any]


def wrap_decorators(calls: Calls) -> None:
    """Replace kopf's public decorators."""
    for name in _OF_OBJECTS:
        wrapped = _wrapping(getattr(kopf.on, name), name, calls)
        setattr(kopf.on, name, wrapped)
        if name in _AT_THE_TOP:
            setattr(kopf, name, wrapped)


def _wrapping(original: Decorator, name: str, calls: Calls) -> Decorator:
    def decorator(*args: Any, **named: Any) -> Callable[[Any], Any]:
        frame = sys._getframe(1)
        place = f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"

        if name == "daemon":  # else one that never looks at `stopped` holds up a deletion for ever
            named.setdefault("cancellation_timeout", _END_S)

        def decorate(fn: Any) -> Any:
            function = getattr(fn, "__qualname__", repr(fn))
            handler = Registered(name, str(named.get("id") or function), place)
            original(*args, **named)(calls.wrapped(fn, handler))
            return fn

        return decorate

    return decorator


def shown(filename: str) -> str:
    """Relative to the project, where it is of the project."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
