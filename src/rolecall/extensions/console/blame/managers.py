"""What `managedFields` says: which field managers own a field, and when each last changed anything.

A key of `fieldsV1` is a field (`f:image`), an element by its keys (`k:{"name":"web"}`), by its value
(`v:"x"`) or by its place (`i:0`). What ends above a field is owned as a whole, with all that is below.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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


def below_element(owned: Iterable[Owned], place: int, element: Any) -> list[Owned]:
    """Those that own an element of a list, or something in it."""
    return [
        found
        for each in owned
        if (found := _below(each, _keys_of(each, place, element))) is not None
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


def _keys_of(owned: Owned, place: int, element: Any) -> list[str]:
    """The keys in which an entry may name this element."""
    return [key for key in owned.below or () if _is_of(key, place, element)]


def _is_of(key: str, place: int, element: Any) -> bool:
    sort, _, text = key.partition(":")
    if sort == "i":
        return text == str(place)
    if sort not in ("k", "v"):
        return False
    try:
        named = json.loads(text)
    except ValueError:
        return False
    if sort == "v":
        return bool(named == element)
    if not isinstance(named, dict) or not isinstance(element, dict):
        return False
    return all(element.get(name) == value for name, value in named.items())


def _time(text: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
