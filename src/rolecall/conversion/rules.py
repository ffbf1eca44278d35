"""What one rule does to values: from the older version to the newer one, and back.

A rule knows the fields it takes on either side, and two functions between their values. It need not
be exact: its caller asks it for the way back, and keeps what would not come back (`kept.py`).
So no rule has a list of special cases, and a new rule cannot lose data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Protocol

from rolecall.conversion.paths import ABSENT, FieldPath, put, take
from rolecall.json_object import Json

Values = tuple[Any, ...]
_DIGITS = 16  # a double holds whole numbers of fewer digits exactly


class Rule(Protocol):
    """Fields of the older version, fields of the newer one, and the way between their values."""

    @property
    def older(self) -> Sequence[FieldPath]: ...

    @property
    def newer(self) -> Sequence[FieldPath]: ...

    def up(self, values: Values, /) -> Values: ...

    def down(self, values: Values, /) -> Values: ...


@dataclass(frozen=True)
class _OneToOne:
    """One field on either side."""

    source: FieldPath
    target: FieldPath

    @property
    def older(self) -> Sequence[FieldPath]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[FieldPath]:
        return (self.target,)


@dataclass(frozen=True)
class Move(_OneToOne):
    """The same value, elsewhere."""

    def up(self, values: Values) -> Values:
        return values

    def down(self, values: Values) -> Values:
        return values


@dataclass(frozen=True)
class Part:
    """One part of a text: what stands before it, which text it is, where it goes."""

    before: str
    pattern: str
    path: FieldPath
    is_number: bool = False

    def value(self, text: str | None) -> Any:
        """Of the text that was found; a number that no JSON reader would hold stays a text."""
        if text is None:
            return ABSENT
        is_whole = self.is_number and text.isascii() and text.isdigit() and len(text) < _DIGITS
        return int(text) if is_whole else text


@dataclass(frozen=True)
class Split:
    """A text into parts; any but the first may be missing, and what stands before it with it."""

    source: FieldPath
    parts: Sequence[Part]
    after: str = ""

    @property
    def older(self) -> Sequence[FieldPath]:
        return (self.source,)

    @property
    def newer(self) -> Sequence[FieldPath]:
        return tuple(part.path for part in self.parts)

    @cached_property
    def _patterns(self) -> Sequence[tuple[re.Pattern[str], Sequence[int]]]:
        """With all parts, then with fewer, down to the first alone; later parts are tried first.

        What stands before a later part is separated from the part before it only in this order:
        in `app@sha256:1f`, `1f` fits what a tag may be, too.
        """
        later = range(1, len(self.parts))
        chosen = [
            (0, *some)
            for number in range(len(self.parts) - 1, -1, -1)
            for some in reversed(list(combinations(later, number)))
        ]
        return [(self._pattern(numbers), numbers) for numbers in chosen]

    def _pattern(self, numbers: Sequence[int]) -> re.Pattern[str]:
        parts = (self.parts[number] for number in numbers)
        pieces = "".join(f"{re.escape(part.before)}({part.pattern})" for part in parts)
        return re.compile(pieces + re.escape(self.after), re.DOTALL)

    def up(self, values: Values) -> Values:
        if isinstance(values[0], str):
            for pattern, numbers in self._patterns:
                if found := pattern.fullmatch(values[0]):
                    texts = dict(zip(numbers, found.groups(), strict=True))
                    return tuple(
                        part.value(texts.get(number)) for number, part in enumerate(self.parts)
                    )
        return (ABSENT,) * len(self.parts)

    def down(self, values: Values) -> Values:
        if values[0] is ABSENT:
            return (ABSENT,)
        pairs = zip(self.parts, values, strict=True)
        text = "".join(f"{part.before}{value}" for part, value in pairs if value is not ABSENT)
        return (text + self.after,)


@dataclass(frozen=True)
class Names(_OneToOne):
    """A value under another name: `Always` becomes `Eager`; what has no other name stays."""

    names: Mapping[str, str]

    def up(self, values: Values) -> Values:
        return (_renamed(values[0], self.names),)

    def down(self, values: Values) -> Values:
        return (_renamed(values[0], {new: old for old, new in self.names.items()}),)


@dataclass(frozen=True)
class Wrap(_OneToOne):
    """One value as the only item of a list."""

    def up(self, values: Values) -> Values:
        return (ABSENT if values[0] is ABSENT else [values[0]],)

    def down(self, values: Values) -> Values:
        items = values[0]
        return (items[0] if isinstance(items, list) and items else ABSENT,)


@dataclass(frozen=True)
class Entries(_OneToOne):
    """A map as a list of entries, each with the key and the value in fields of their own."""

    key: str = "name"
    value: str = "value"

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

    target: FieldPath
    value: Any

    @property
    def older(self) -> Sequence[FieldPath]:
        return ()

    @property
    def newer(self) -> Sequence[FieldPath]:
        return (self.target,)

    def up(self, _: Values) -> Values:
        return (self.value,)

    def down(self, _: Values) -> Values:
        return ()


@dataclass(frozen=True)
class OneSided:
    """A field that one version alone has."""

    path: FieldPath
    is_older: bool

    @property
    def older(self) -> Sequence[FieldPath]:
        return (self.path,) if self.is_older else ()

    @property
    def newer(self) -> Sequence[FieldPath]:
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
    def older(self) -> Sequence[FieldPath]:
        return self.rule.newer

    @property
    def newer(self) -> Sequence[FieldPath]:
        return self.rule.older

    def up(self, values: Values) -> Values:
        return self.rule.down(values)

    def down(self, values: Values) -> Values:
        return self.rule.up(values)


@dataclass(frozen=True)
class Each:
    """Rules for each item of a list, which is at the same place in both versions."""

    path: FieldPath
    rules: Sequence[Rule]

    @property
    def older(self) -> Sequence[FieldPath]:
        return (self.path,)

    @property
    def newer(self) -> Sequence[FieldPath]:
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
