"""The fields of a live object, each with its path, its value, and the managers that own it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rolecall.extensions.console.blame.managers import (
    ManagedEntry,
    Owned,
    OwnedElements,
    below_key,
    owned_by,
    owners_at,
)
from rolecall.json_object import Json
from rolecall.record import element_steps, key_step

# The API server sets these fields, or they identify the object; no client changes them later.
_IDENTITY = frozenset({"apiVersion", "kind"})
_IDENTITY_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generateName",
        "generation",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_MANAGED = "managedFields"
_MASK = "***"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class LiveField:
    """A field without fields of its own."""

    keys: tuple[str | int, ...]  # from the root: keys of objects, places in lists
    # What each step may be called in a path; the first is how we write it.
    steps: tuple[tuple[str, ...], ...]
    value: Any
    owners: tuple[ManagedEntry, ...]
    is_identity: bool  # set by the API server: we look for no write

    @property
    def path(self) -> str:
        return "".join(step[0] for step in self.steps)

    def is_below(self, path: Sequence[str]) -> bool:
        """Whether a path, step by step, is this field's or that of something around it."""
        return len(path) <= len(self.steps) and all(
            step in names for step, names in zip(path, self.steps, strict=False)
        )


def live_fields_of(document: Json, most: int | None = None) -> list[LiveField]:
    """The first fields in their order, without `managedFields`; values of Secrets are masked."""
    metadata = document.get("metadata")
    owned = owned_by(metadata if isinstance(metadata, dict) else {})
    is_secret = (document.get("apiVersion"), document.get("kind")) == ("v1", "Secret")
    fields = islice(_fields(document, (), (), owned), most)
    return [_masked(each) if is_secret else each for each in fields]


def count_fields(document: Json) -> int:
    """How many there are in all."""
    metadata = document.get("metadata")
    managed = metadata.get(_MANAGED) if isinstance(metadata, dict) else None
    return _count_leaves(document) - (_count_leaves(managed) if managed is not None else 0)


def _count_leaves(value: Any) -> int:
    count, left = 0, [value]
    while left:
        each = left.pop()
        if isinstance(each, dict | list) and each:
            left += each.values() if isinstance(each, dict) else each
        else:
            count += 1
    return count


def _fields(
    value: Any,
    keys: tuple[str | int, ...],
    steps: tuple[tuple[str, ...], ...],
    owned: list[Owned],
) -> Iterator[LiveField]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            if (*keys, key) != ("metadata", _MANAGED):
                names = _names_of_key(key)
                yield from _fields(item, (*keys, key), (*steps, names), below_key(owned, key))
    elif isinstance(value, list) and value:
        elements = OwnedElements(owned)
        for place, (step, item) in enumerate(zip(element_steps(value), value, strict=True)):
            names = _names_of_element(step, place, is_last=place == len(value) - 1)
            below = elements.below(place, item)
            yield from _fields(item, (*keys, place), (*steps, names), below)
    else:
        yield LiveField(keys, steps, value, owners_at(owned), _is_identity(keys))


def _names_of_key(key: str) -> tuple[str, ...]:
    # In a JSON patch, a key of digits looks like a place.
    return (key_step(key), f"[{key}]") if key.isdigit() else (key_step(key),)


def _names_of_element(step: str, place: int, *, is_last: bool) -> tuple[str, ...]:
    names = dict.fromkeys((step, f"[{place}]"))
    return (*names, '["-"]') if is_last else tuple(names)  # as a JSON patch appends it


def _is_identity(keys: tuple[str | int, ...]) -> bool:
    if keys[0] in _IDENTITY:
        return True
    return len(keys) > 1 and keys[0] == "metadata" and keys[1] in _IDENTITY_METADATA


def _masked(field: LiveField) -> LiveField:
    is_value = field.keys[0] in ("data", "stringData") or _LAST_APPLIED in field.keys
    if not is_value:
        return field
    return LiveField(field.keys, field.steps, _MASK, field.owners, field.is_identity)
