"""What a CR's last good run wanted, as it is kept between runs.

An entry is kept for each object that is ours to delete once it is no longer wanted: made by a run of
the CR and owned by it. Objects that a run writes and another CR owns are kept too, marked as shared:
the owner must not delete what somebody else still wants.

The text form is JSON of few bytes, as ten thousand CRs have one each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from rolecall.gvk import Gvk
from rolecall.record import ObjectId

_FORMAT = 1


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    group: str
    version: str
    kind: str
    resource: str  # its plural, as in paths
    namespace: str  # empty for a cluster-scoped kind
    name: str
    uid: str
    is_shared: bool = False  # wanted by this CR, but owned by another, or by nobody

    @property
    def id(self) -> ObjectId:
        return self.group, self.resource, self.namespace, self.name

    @property
    def gvk(self) -> Gvk:
        return Gvk(self.group, self.version, self.kind)

    def __str__(self) -> str:
        """As people name it: `ConfigMap shop-2`."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """Of one CR; `uid` tells it from a later one with its name."""

    uid: str
    entries: tuple[Entry, ...] = ()

    @property
    def shared(self) -> frozenset[ObjectId]:
        return frozenset(entry.id for entry in self.entries if entry.is_shared)

    def by_id(self) -> dict[ObjectId, Entry]:
        return {entry.id: entry for entry in self.entries}

    def as_text(self) -> str:
        rows = [list(astuple(entry)) for entry in sorted(self.entries)]
        return json.dumps([_FORMAT, self.uid, rows], separators=(",", ":"), ensure_ascii=False)


def inventory_of(uid: str, entries: Iterable[Entry]) -> Inventory:
    return Inventory(uid, tuple(sorted(entries)))


def read_inventory(text: str) -> Inventory | None:
    """None where it is none that we can read: it is then as if nothing were known."""
    try:
        number, uid, rows = json.loads(text)
        if number != _FORMAT or not isinstance(uid, str):
            return None
        return Inventory(uid, tuple(_entry(row) for row in rows))
    except (ValueError, TypeError, RecursionError):
        return None


def _entry(row: list[object]) -> Entry:
    *texts, is_shared = row
    if len(texts) != 7 or not all(isinstance(text, str) for text in texts):
        raise ValueError("no entry")
    group, version, kind, resource, namespace, name, uid = map(str, texts)
    return Entry(group, version, kind, resource, namespace, name, uid, is_shared=bool(is_shared))
