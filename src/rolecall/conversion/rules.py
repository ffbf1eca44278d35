"""What one rule does to values: from the older version to the newer one, and back.

A rule knows the fields it takes on either side, and two functions between their values. It need not
be exact: whoever applies it asks it for the way back, and keeps what would not come back (`kept.py`).
So no rule has a list of special cases, and a new rule cannot lose data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from rolecall.conversion.paths import ABSENT, Path, put, take
from rolecall.json_object import Json

Values = tuple[Any, ...]


class Rule(Protocol):
    """Fields of the older version, fields of the newer one, and the way between their values."""

    @property
    def older(self) -> Sequence[Path]: ...

    @property
    def newer(self) -> Sequence[Path]: ...

    def up(self, values: Values, /) -> Values: ...

    def down(self, values: Values, /) -> Values: ...


@dataclass(frozen=True)
class Rename:
    """The same value, elsewhere."""

    source: Path
    target: Path

    @property
    def older(self) -> Sequence[Path]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[Path]:
        return (self.target,)

    def up(self, values: Values) -> Values:
        return values

    def down(self, values: Values) -> Values:
        return values


@dataclass(frozen=True)
class Part:
    """One part of a text: what stands before it, which text it is, where it goes."""

    before: str
    pattern: str
    path: Path


@dataclass(frozen=True)
class Split:
    """A text into parts; parts at the end may be missing, and what stands before them with them."""

    source: Path
    parts: Sequence[Part]
    after: str = ""

    @property
    def older(self) -> Sequence[Path]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[Path]:
        return tuple(part.path for part in self.parts)

    @cached_property
    def _patterns(self) -> Sequence[re.Pattern[str]]:
        """With all parts, with one less, and so on down to the first alone."""
        pieces = [f"{re.escape(part.before)}({part.pattern})" for part in self.parts]
        return [
            re.compile("".join(pieces[:number]) + re.escape(self.after), re.DOTALL)
            for number in range(len(pieces), 0, -1)
        ]

    def up(self, values: Values) -> Values:
        nothing: Values = (ABSENT,) * len(self.parts)
        if isinstance(values[0], str):
            for pattern in self._patterns:
                if found := pattern.fullmatch(values[0]):
                    texts = found.groups()
                    return texts + nothing[len(texts) :]
        return nothing

    def down(self, values: Values) -> Values:
        text = ""
        for part, value in zip(self.parts, values, strict=True):
            if value is ABSENT:
                break
            text += f"{part.before}{value}"
        return (text + self.after if text else ABSENT,)


@dataclass(frozen=True)
class Names:
    """A value under another name: `Always` becomes `Eager`; what has no other name stays."""

    source: Path
    target: Path
    names: Mapping[str, str]

    @property
    def older(self) -> Sequence[Path]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[Path]:
        return (self.target,)

    def up(self, values: Values) -> Values:
        return (_renamed(values[0], self.names),)

    def down(self, values: Values) -> Values:
        return (_renamed(values[0], {new: old for old, new in self.names.items()}),)


@dataclass(frozen=True)
class Wrap:
    """One value as the only item of a list."""

    source: Path
    target: Path

    @property
    def older(self) -> Sequence[Path]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[Path]:
        return (self.target,)

    def up(self, values: Values) -> Values:
        return (ABSENT if values[0] is ABSENT else [values[0]],)

    def down(self, values: Values) -> Values:
        items = values[0]
        return (items[0] if isinstance(items, list) and items else ABSENT,)


@dataclass(frozen=True)
class Entries:
    """A map as a list of entries, each with the key and the value in fields of their own."""

    source: Path
    target: Path
    key: str = "name"
    value: str = "value"

    @property
    def older(self) -> Sequence[Path]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[Path]:
        return (self.target,)

    def up(self, values: Values) -> Values:
        found = values[0]
        if not isinstance(found, dict):
            return (ABSENT,)
        return ([{self.key: key, self.value: found[key]} for key in sorted(found)],)

    def down(self, values: Values) -> Values:
        found = values[0]
        if not isinstance(found, list):
            return (ABSENT,)
        entries = [item for item in found if isinstance(item, dict) and self.key in item]
        return ({str(item[self.key]): item[self.value] for item in entries if self.value in item},)


@dataclass(frozen=True)
class Default:
    """A field that only the newer version has; objects of the older one have it with this value."""

    target: Path
    value: Any

    @property
    def older(self) -> Sequence[Path]:
        return ()

    @property
    def newer(self) -> Sequence[Path]:
        return (self.target,)

    def up(self, _: Values) -> Values:
        return (self.value,)

    def down(self, _: Values) -> Values:
        return ()


@dataclass(frozen=True)
class OneSided:
    """A field that one version alone has."""

    path: Path
    is_older: bool

    @property
    def older(self) -> Sequence[Path]:
        return (self.path,) if self.is_older else ()

    @property
    def newer(self) -> Sequence[Path]:
        return () if self.is_older else (self.path,)

    def up(self, _: Values) -> Values:
        return (ABSENT,) * len(self.newer)

    def down(self, _: Values) -> Values:
        return (ABSENT,) * len(self.older)


@dataclass(frozen=True)
class Inverse:
    """Another rule, in the other direction: parts are joined where `Split` splits."""

    rule: Rule

    @property
    def older(self) -> Sequence[Path]:
        return self.rule.newer

    @property
    def newer(self) -> Sequence[Path]:
        return self.rule.older

    def up(self, values: Values) -> Values:
        return self.rule.down(values)

    def down(self, values: Values) -> Values:
        return self.rule.up(values)


@dataclass(frozen=True)
class Each:
    """Rules for each item of a list, which is at the same place in both versions."""

    path: Path
    rules: Sequence[Rule]

    @property
    def older(self) -> Sequence[Path]:
        return (self.path,)

    @property
    def newer(self) -> Sequence[Path]:
        return (self.path,)

    def up(self, values: Values) -> Values:
        return (_of_each(values[0], lambda item: apply(item, self.rules, is_up=True)),)

    def down(self, values: Values) -> Values:
        return (_of_each(values[0], lambda item: apply(item, self.rules, is_up=False)),)


def apply(item: Json, rules: Sequence[Rule], *, is_up: bool) -> Json:
    """The item of the other version. All is taken before anything is put: fields may change places."""
    item = copied(item)
    results = []
    for rule in rules:
        sources, targets = (rule.older, rule.newer) if is_up else (rule.newer, rule.older)
        values = tuple(take(item, path) for path in sources)
        results.append((targets, rule.up(values) if is_up else rule.down(values)))
    for targets, values in results:
        for path, value in zip(targets, values, strict=True):
            put(item, path, value)
    return item


def copied(value: Any) -> Any:
    """JSON data, as deep as it goes; a third of what `copy.deepcopy` takes."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value


def _of_each(items: Any, convert: Any) -> Any:
    if not isinstance(items, list):
        return items
    return [convert(item) if isinstance(item, dict) else item for item in items]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    return names.get(value, value) if isinstance(value, str) else value
