"""Where a field is in an object, as a person writes it: `spec.image.tag`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rolecall.json_object import Json

FieldPath = tuple[str, ...]


class _Absent:
    """A field that is not there, which is something else than null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class PathError(ValueError):
    """A path leads through something that is not a map."""


def parse_path(text: str) -> FieldPath:
    return tuple(text.split("."))


def path_text(path: FieldPath) -> str:
    return ".".join(path)


def take(data: Json, path: FieldPath) -> Any:
    """Remove a field and return it; `ABSENT` where it was not there.

    Maps that are empty then go with it, but for the outermost: an object without `spec` is refused.
    """
    parents = [data]
    for name in path[:-1]:
        inner = parents[-1].get(name)
        if not isinstance(inner, dict):
            return ABSENT
        parents.append(inner)
    value = parents[-1].pop(path[-1], ABSENT)
    if value is ABSENT:
        return ABSENT
    for depth in range(len(path) - 2, 0, -1):
        if parents[depth][path[depth]]:
            break
        del parents[depth][path[depth]]
    return value


def look(data: Mapping[str, Any], path: FieldPath) -> Any:
    """A field as it is; `ABSENT` where it is not there."""
    found: Any = data
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return ABSENT
        found = found[name]
    return found


def put(data: Json, path: FieldPath, value: Any) -> None:
    """Write a field, with the maps that it needs; `ABSENT` writes nothing."""
    if value is ABSENT:
        return
    inner = data
    for index, name in enumerate(path[:-1]):
        step = inner.setdefault(name, {})
        if not isinstance(step, dict):
            raise PathError(
                f"`{path_text(path)}` cannot be written: "
                f"`{path_text(path[: index + 1])}` is not a map"
            )
        inner = step
    inner[path[-1]] = value
