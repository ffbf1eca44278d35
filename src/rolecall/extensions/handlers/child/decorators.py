"""kopf's decorators, with our wrapping around each function; for files that are imported afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import kopf

from rolecall.extensions.handlers.child.calls import Calls, Registered
from rolecall.extensions.handlers.child.reviews import Reviews
from rolecall.handler_files import REVIEWING, KnownKind, asked_kind

_OF_OBJECTS = (
    *("create", "update", "delete", "resume", "field", "event"),
    *("timer", "daemon", "index", "subhandler", "validate", "mutate"),
)
_AT_THE_TOP = ("timer", "daemon", "index", "subhandler")  # `kopf.timer` as well as `kopf.on.timer`
_ANSWERING = (*REVIEWING, "index")
_OF_KINDS = ("group", "version", "kind", "plural", "singular", "shortcut", "category")
_END_S = 10.0
Decorator = Callable[..., Any]


def wrap_decorators(
    calls: Calls, reviews: Reviews, kinds: Sequence[KnownKind], *, acts: bool
) -> None:
    """Replace kopf's public decorators; `kinds` are those of the watches with handlers.

    Where another replica `acts`, handlers only answer the API server.
    """
    for name in _OF_OBJECTS:
        original = getattr(kopf.on, name) if acts or name in _ANSWERING else _ignore
        wrapped = _wrapping(original, name, calls, reviews, kinds)
        setattr(kopf.on, name, wrapped)
        if name in _AT_THE_TOP:
            setattr(kopf, name, wrapped)


def _ignore(*_: Any, **__: Any) -> Callable[[Any], Any]:
    return lambda fn: fn


def _wrapping(
    original: Decorator, name: str, calls: Calls, reviews: Reviews, kinds: Sequence[KnownKind]
) -> Decorator:
    def decorator(*args: Any, **named: Any) -> Callable[[Any], Any]:
        frame = sys._getframe(1)
        place = f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"

        if name == "daemon":  # else one that never looks at `stopped` holds up a deletion for ever
            named.setdefault("cancellation_timeout", _END_S)

        def decorate(fn: Any) -> Any:
            function = getattr(fn, "__qualname__", repr(fn))
            handler = Registered(name, str(named.get("id") or function), place)
            wrapped = calls.wrapped(fn, handler)
            asked = asked_kind(args, named) if all(isinstance(arg, str) for arg in args) else None
            meant = [kind for kind in kinds if asked and asked.matches(kind)]
            if name in REVIEWING:
                reviews.add(name, handler.id, named, meant)
            if asked is None or asked.group is not None or not meant:
                original(*args, **named)(wrapped)
                return fn
            # kopf serves no kind whose name is that of another one in the cluster, of another group.
            others = {key: value for key, value in named.items() if key not in _OF_KINDS}
            for gvk in (kind.gvk for kind in meant):
                original(**others, group=gvk.group, version=gvk.version, kind=gvk.kind)(wrapped)
            return fn

        return decorate

    return decorator


def shown(filename: str) -> str:
    """Relative to the project, where it is of the project."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
