"""Turns what a play answered into a JSON Patch, the only kind that the API server takes.

A merge patch is what people can write, and says nothing of the object it is for; so it is held against
that object, and only what differs becomes a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rolecall.json_object import Json

_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})
_NOTHING = object()


class PatchError(ValueError):
    """What a play set as its patch is none."""


def json_patch(patch: Any, target: Any) -> list[Json]:
    """The steps; a list is taken as a JSON Patch already. Raises `PatchError`."""
    if patch is None:
        return []
    if isinstance(patch, list):
        return [_checked(step) for step in patch]
    if not isinstance(patch, Mapping):
        raise PatchError("it is neither a map (a merge patch) nor a list (a JSON Patch)")
    if not isinstance(target, Mapping):
        raise PatchError("the request has no object that it could change")
    return list(_steps(patch, target, ()))


def _checked(step: Any) -> Json:
    if not isinstance(step, dict):
        raise PatchError("a step of the JSON Patch is not a map")
    operation, path = step.get("op"), step.get("path")
    if operation not in _OPERATIONS or not isinstance(path, str):
        raise PatchError("a step of the JSON Patch lacks `op` or `path`")
    return step


def _steps(
    patch: Mapping[str, Any], target: Mapping[str, Any], at: Sequence[str]
) -> Iterator[Json]:
    for key, wanted in patch.items():
        found, path = target.get(key, _NOTHING), (*at, str(key))
        if wanted is None:
            if found is not _NOTHING:
                yield {"op": "remove", "path": _pointer(path)}
        elif isinstance(wanted, Mapping) and isinstance(found, Mapping):
            yield from _steps(wanted, found, path)
        elif _without_removals(wanted) != found:
            operation = "add" if found is _NOTHING else "replace"
            value = _without_removals(wanted)
            yield {"op": operation, "path": _pointer(path), "value": value}


def _without_removals(value: Any) -> Any:
    """What a merge patch makes where nothing is: a null in a map stands for no key."""
    if isinstance(value, Mapping):
        return {key: _without_removals(item) for key, item in value.items() if item is not None}
    return value


def _pointer(path: Sequence[str]) -> str:
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
