"""Converts objects of one kind between its versions, step by step between neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rolecall.conversion.kept import ABSENT_MAP, EMPTY, KEPT_PREFIX, KeptValues
from rolecall.conversion.paths import (
    ABSENT,
    FieldPath,
    PathError,
    look,
    parse_path,
    path_text,
    put,
    take,
)
from rolecall.conversion.rules import Rule, Values, copied
from rolecall.errors import InputError
from rolecall.json_object import Json

# What the API server takes for all annotations of an object.
_MOST_KEPT = 256 * 1024


class ConversionError(InputError):
    """An object that cannot be written in the wanted version."""


@dataclass(frozen=True)
class NamedRule:
    """A rule, and what it is called in annotations: the same for as long as it does the same."""

    name: str
    rule: Rule
    loses: bool = False  # what does not come back is not kept either
    line: int = 0


@dataclass(frozen=True)
class VersionStep:
    """The rules between two neighbouring versions."""

    older: str
    newer: str
    rules: Sequence[NamedRule] = ()

    @cached_property
    def parents(self) -> tuple[Sequence[FieldPath], Sequence[FieldPath]]:
        """Maps that a rule may leave empty, in the older version and in the newer one."""
        return (
            _parents(path for named in self.rules for path in named.rule.older),
            _parents(path for named in self.rules for path in named.rule.newer),
        )


@dataclass(frozen=True)
class Conversion:
    """All versions of one kind, the oldest first, and the steps between neighbours."""

    group: str
    kind: str
    versions: Sequence[str]
    steps: Sequence[VersionStep] = field(default_factory=tuple)
    line: int = 0

    def convert(self, source: Json, version: str) -> Json:
        """The object in the wanted version; the given one stays as it is."""
        current = str(source.get("apiVersion", "")).rpartition("/")[2]
        here, there = self._place(current), self._place(version)
        result: Json = copied(source)
        while here != there:
            is_up = there > here
            step = self.steps[here if is_up else here - 1]
            result = _convert(result, step, is_up=is_up)
            here += 1 if is_up else -1
        result["apiVersion"] = f"{self.group}/{version}"
        return result

    def lossy_fields(self, version: str, over: str) -> list[FieldPath]:
        """Fields of a version that do not come back from another, as far as rules say so."""
        here, there = self._place(version), self._place(over)
        is_up = there > here
        steps = self.steps[min(here, there) : max(here, there)]
        return [
            path
            for step in steps
            for named in step.rules
            if named.loses
            for path in _sides(named.rule, is_up=is_up)[0]
        ]

    def _place(self, version: str) -> int:
        if version in self.versions:
            return self.versions.index(version)
        known = ", ".join(f"`{known}`" for known in self.versions)
        raise ConversionError(
            f"version `{version}` of `{self.kind}` is not one that conversions.yaml knows: {known}",
            hint="an older operator may have been started beside objects of a newer one",
        )


def _convert(item: Json, step: VersionStep, *, is_up: bool) -> Json:
    """One step, in place. All is taken before anything is put, so that fields may change places."""
    source, target = (step.older, step.newer) if is_up else (step.newer, step.older)
    metadata = item.setdefault("metadata", {})
    kept, keeps = KeptValues.read(metadata, target), KeptValues({})
    empty = [path for path in step.parents[0 if is_up else 1] if look(item, path) == {}]
    absent = [name for name in ("spec", "status") if name not in item]
    for path in empty:
        take(item, path)  # what is a map here may be a text there
    results: list[tuple[Sequence[FieldPath], Values]] = []
    for named in step.rules:
        taken, into = _sides(named.rule, is_up=is_up)
        values = tuple(take(item, path) for path in taken)
        results.append((into, _values(named, values, kept, keeps, is_up=is_up)))
    try:
        for paths, values in results:
            for path, value in zip(paths, values, strict=True):
                put(item, path, value)
        for text in kept.shape(EMPTY):
            if look(item, parse_path(text)) is ABSENT:
                put(item, parse_path(text), {})
    except PathError as error:
        raise ConversionError(str(error)) from error
    for name in kept.shape(ABSENT_MAP):
        if item.get(name) == {}:
            del item[name]
    keeps.keep_shape(EMPTY, [path_text(path) for path in empty])
    keeps.keep_shape(ABSENT_MAP, [name for name in absent if name in item])
    KeptValues({}).write(metadata, target)
    keeps.write(metadata, source)
    _refuse_too_much(metadata, source)
    return item


def _values(
    named: NamedRule, values: Values, kept: KeptValues, keeps: KeptValues, *, is_up: bool
) -> Values:
    """What the rule makes of these values; what would not come back from there is kept."""
    rule = named.rule
    found = kept.restored(named.name, values)
    if found is None:
        found = rule.up(values) if is_up else rule.down(values)
    back = rule.down(found) if is_up else rule.up(found)
    if back != values and not named.loses:
        keeps.keep(named.name, values, found)
    return found


def _sides(rule: Rule, *, is_up: bool) -> tuple[Sequence[FieldPath], Sequence[FieldPath]]:
    return (rule.older, rule.newer) if is_up else (rule.newer, rule.older)


def _parents(paths: Any) -> Sequence[FieldPath]:
    found = {path[:length]: None for path in paths for length in range(2, len(path))}
    return tuple(found)


def _refuse_too_much(metadata: Mapping[str, Any], version: str) -> None:
    annotations = metadata.get("annotations") or {}
    if len(annotations.get(KEPT_PREFIX + version, "")) > _MOST_KEPT:
        raise ConversionError(
            f"what only `{version}` can hold of this object is larger than annotations may be",
            hint="shorten it, or write the rule as lossy",
        )
