"""What `managedFields` says: which field managers own a field, and when each last changed anything.

A key of `fieldsV1` is a field (`f:image`), an element by its keys (`k:{"name":"web"}`), by its value
(`v:"x"`) or by its place (`i:0`). What ends above a field is owned as a whole, with all that is below.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_ITSELF = "."


@dataclass(frozen=True, slots=True)
class ManagedEntry:
    """One manager's; `at` is when it last changed one of its fields, whichever that was."""

    manager: str
    operation: str  # Apply or Update
    at: datetime | None
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Owned:
    """An entry, and the part of its fields that is below the current path."""

    entry: ManagedEntry
    below: Mapping[str, Any] | None  # None: all of it


def owned_by(metadata: Mapping[str, Any]) -> list[Owned]:
    """The entries of an object, at its root; what cannot be read is left out."""
    entries = metadata.get("managedFields")
    found = []
    for each in entries if isinstance(entries, list) else ():
        fields = each.get("fieldsV1") if isinstance(each, dict) else None
        if isinstance(fields, dict):
            found.append(Owned(_entry(each), fields))
    return found


def below_key(owned: Iterable[Owned], key: str) -> list[Owned]:
    """Those that own a field, or something in it."""
    return [found for each in owned if (found := _below(each, [f"f:{key}"])) is not None]


class OwnedElements:
    """Which entries own which elements of one list; reads their keys once for all elements."""

    def __init__(self, owned: Iterable[Owned]) -> None:
        self._owned = [(each, _NamedElements(each.below or {})) for each in owned]

    def below(self, place: int, element: Any) -> list[Owned]:
        """Those that own an element, or something in it."""
        return [
            found
            for each, named in self._owned
            if (found := _below(each, named.keys_of(place, element))) is not None
        ]


def owners_at(owned: Iterable[Owned]) -> tuple[ManagedEntry, ...]:
    """Those that own the very place."""
    return tuple(each.entry for each in owned if not each.below or _ITSELF in each.below)


def _entry(values: Mapping[str, Any]) -> ManagedEntry:
    return ManagedEntry(
        manager=str(values.get("manager") or ""),
        operation=str(values.get("operation") or ""),
        at=_time(values.get("time")),
        subresource=str(values.get("subresource") or ""),
    )


def _below(owned: Owned, keys: Iterable[str]) -> Owned | None:
    if not owned.below:
        return Owned(owned.entry, None)
    for key in keys:
        if isinstance(node := owned.below.get(key), dict):
            return Owned(owned.entry, node)
    return None


class _NamedElements:
    """The keys of an entry by what they name; a list may have as many as elements: thousands."""

    def __init__(self, below: Mapping[str, Any]) -> None:
        self._by_value: dict[str, str] = {}  # also by place: `i:0`
        self._by_keys: dict[tuple[str, ...], dict[str, str]] = {}
        for key in below:
            self._add(key)

    def keys_of(self, place: int, element: Any) -> Iterator[str]:
        yield f"i:{place}"
        if self._by_value and (key := self._by_value.get(_one_text(element))) is not None:
            yield key
        if isinstance(element, dict):
            for names, found in self._by_keys.items():
                key = found.get(_one_text([element.get(name) for name in names]))
                if key is not None:
                    yield key

    def _add(self, key: str) -> None:
        sort, _, text = key.partition(":")
        if sort not in ("k", "v"):
            return
        try:
            named = json.loads(text)
        except (ValueError, RecursionError):
            return
        if sort == "v":
            self._by_value[_one_text(named)] = key
        elif isinstance(named, dict):
            by_values = self._by_keys.setdefault(tuple(named), {})
            by_values[_one_text(list(named.values()))] = key


def _one_text(value: Any) -> str:
    """The same for values that are equal."""
    return json.dumps(value, sort_keys=True)


def _time(text: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
