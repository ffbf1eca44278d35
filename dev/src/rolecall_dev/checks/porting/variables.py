"""What a project says of its variables: every place that gives one a value.

The kinds of a variable are those of all such places together, wherever they stand: a run takes one of
them, and which one is not asked. So a variable of which one place says nothing is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rolecall_dev.checks.crds import PRESERVE
from rolecall_dev.checks.porting.kinds import (
    BOOL,
    LIST,
    MAP,
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN_KIND,
    Kinds,
    Shape,
)
from rolecall_dev.checks.porting.templates import rendered
from rolecall_dev.sources import as_map

# What becomes of a key of the spec on its way to a role.
Rename = Callable[[str], str]

_SCHEMA_KINDS = {
    "boolean": BOOL,
    "integer": NUMBER,
    "number": NUMBER,
    "string": TEXT,
    "array": LIST,
    "object": MAP,
}
_COMMAND = {
    **dict.fromkeys(("stdout", "stderr"), TEXT),
    **dict.fromkeys(("stdout_lines", "stderr_lines"), LIST),
    "rc": NUMBER,
}
# What modules return for certain, where the task ran.
_RESULTS: Mapping[str, Mapping[str, Kinds]] = {
    **{module: _COMMAND for module in ("command", "shell", "raw", "script", "k8s_exec")},
    "k8s_info": {"resources": LIST},
    "async_status": {"finished": NUMBER, "started": NUMBER},
    "uri": {"status": NUMBER, "content": TEXT},
    "stat": {"stat": MAP},
    "find": {"files": LIST, "matched": NUMBER},
}
_EVERY_RESULT = {"changed": BOOL, "failed": BOOL, "attempts": NUMBER, "results": LIST}


@dataclass(frozen=True, slots=True)
class _Source:
    """One place that gives a variable its value: data as written, or a shape that is known."""

    data: Any = None
    shape: Shape | None = None


class Variables:
    """Collects the places, then answers."""

    def __init__(self) -> None:
        self._sources: dict[str, list[_Source]] = {}
        self.now = _Templated(self._sources, is_now=True)
        self.before = _Templated(self._sources, is_now=False)
        self.now.other = self.before
        self.before.other = self.now

    def assign(self, name: Any, data: Any) -> None:
        """Something in YAML gives a variable this value."""
        if isinstance(name, str):
            self._sources.setdefault(name, []).append(_Source(data))

    def assign_all(self, data: Any) -> None:
        """A map of variables, as in `vars`."""
        for name, value in as_map(data).items():
            self.assign(name, value)

    def unknown(self, name: Any) -> None:
        """Something gives a variable a value of which nothing can be said."""
        if isinstance(name, str):
            self._sources.setdefault(name, []).append(_Source(shape=Shape()))

    def result(self, name: Any, module: str, *, is_loop: bool) -> None:
        """A task registers what its module returns."""
        if not isinstance(name, str):
            return
        own = {} if is_loop else _RESULTS.get(module.rsplit(".", 1)[-1], {})
        parts = {part: Shape(kinds) for part, kinds in {**_EVERY_RESULT, **own}.items()}
        self._sources.setdefault(name, []).append(_Source(shape=Shape(MAP, parts)))

    def names(self) -> Iterable[str]:
        """All that some place gives a value."""
        return self._sources

    def written(self, name: str) -> list[Any]:
        """The values of a variable as they are written."""
        return [source.data for source in self._sources.get(name, ()) if source.shape is None]

    def schema(self, name: str, schema: Any, rename: Rename) -> None:
        """A CRD says what users may write."""
        self._sources.setdefault(name, []).append(_Source(shape=shape_of_schema(schema, rename)))


class _Templated:
    """The variables as one side of the change sees them."""

    def __init__(self, sources: Mapping[str, list[_Source]], *, is_now: bool) -> None:
        self.other: _Templated = self
        self._sources = sources
        self._is_now = is_now
        self._known: dict[str, Shape] = {}
        self._open: set[str] = set()  # being looked up: a variable that needs itself is unknown

    def shape(self, name: str) -> Shape:
        if name not in self._sources or name in self._open:
            return Shape()
        if name not in self._known:
            self._open.add(name)
            shapes = [self._shape_of(source) for source in self._sources[name]]
            self._open.discard(name)
            self._known[name] = _together(shapes)
        return self._known[name]

    def _shape_of(self, source: _Source) -> Shape:
        if source.shape is not None:
            return source.shape
        return self._shape_of_data(source.data)

    def _shape_of_data(self, data: Any) -> Shape:
        if isinstance(data, dict):
            parts = {str(name): self._shape_of_data(value) for name, value in data.items()}
            return Shape(MAP, parts)
        now, before = (self, self.other) if self._is_now else (self.other, self)
        both = rendered(data, now, before)
        return Shape(both.now if self._is_now else both.before)


def shape_of_schema(schema: Any, rename: Rename) -> Shape:
    """What a schema lets through; unknown where it lets through more than one kind."""
    schema = as_map(schema)
    kinds = _SCHEMA_KINDS.get(str(schema.get("type")), UNKNOWN_KIND)
    if schema.get("x-kubernetes-int-or-string"):
        kinds = UNKNOWN_KIND
    if schema.get(PRESERVE) and not schema.get("properties"):
        return Shape(kinds)
    properties = as_map(schema.get("properties"))
    return Shape(
        kinds, {rename(name): shape_of_schema(below, rename) for name, below in properties.items()}
    )


def _together(shapes: Iterable[Shape]) -> Shape:
    shapes = list(shapes)
    if len(shapes) == 1:
        return shapes[0]
    kinds = NOTHING.union(*(shape.kinds for shape in shapes))
    maps = [shape for shape in shapes if shape.parts or shape.kinds != UNKNOWN_KIND]
    names = {name for shape in maps for name in shape.parts} if len(maps) == len(shapes) else set()
    return Shape(
        kinds,
        {
            name: _together([shape.parts[name] for shape in maps if name in shape.parts])
            for name in names
        },
    )
