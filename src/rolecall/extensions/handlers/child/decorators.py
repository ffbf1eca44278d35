"""kopf's decorators, with our wrapping around each function; for files that are imported afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import kopf

from rolecall.extensions.handlers.child.calls import Calls, Registered
from rolecall.handler_files import KnownKind, asked_kind
from rolecall.json_object import Json

_OF_OBJECTS = (
    *("create", "update", "delete", "resume", "field", "event"),
    *("timer", "daemon", "index", "subhandler", "validate", "mutate"),
)
_AT_THE_TOP = ("timer", "daemon", "index", "subhandler")  # `kopf.timer` as well as `kopf.on.timer`
_OF_KINDS = ("group", "version", "kind", "plural", "singular", "shortcut", "category")
_END_S = 10.0
Decorator = Callable[..., Any]


def wrap_decorators(calls: Calls, kinds: Sequence[KnownKind]) -> None:
    """Replace kopf's public decorators; `kinds` are those of the watches with handlers."""
    for name in _OF_OBJECTS:
        wrapped = _wrapping(getattr(kopf.on, name), name, calls, kinds)
        setattr(kopf.on, name, wrapped)
        if name in _AT_THE_TOP:
            setattr(kopf, name, wrapped)


def _wrapping(
    original: Decorator, name: str, calls: Calls, kinds: Sequence[KnownKind]
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
            for places, others in _with_groups(args, named, kinds):
                original(*places, **others)(wrapped)
            return fn

        return decorate

    return decorator


def _with_groups(
    args: Sequence[Any], named: Mapping[str, Any], kinds: Sequence[KnownKind]
) -> Iterator[tuple[Sequence[Any], Json]]:
    """The arguments of the decorator, for each watched kind that it names without a group.

    kopf serves no kind whose name is that of another one in the cluster, as of another group.
    """
    asked = asked_kind(args, named) if all(isinstance(arg, str) for arg in args) else None
    meant = [kind.gvk for kind in kinds if asked and asked.matches(kind)]
    if asked is None or asked.group is not None or not meant:
        yield args, dict(named)
        return
    others = {name: value for name, value in named.items() if name not in _OF_KINDS}
    for gvk in meant:
        yield (), {**others, "group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def shown(filename: str) -> str:
    """Relative to the project, where it is of the project."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
