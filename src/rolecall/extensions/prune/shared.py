"""Which other CR wants an object by its last run, though it does not own it."""

from __future__ import annotations

from collections.abc import Mapping

from rolecall.extensions.prune.inventory import Entry
from rolecall.record import ObjectId
from rolecall.workqueue import Key


def other_wanting(shared: Mapping[Key, frozenset[ObjectId]], key: Key, entry: Entry) -> Key | None:
    """One that is not the CR itself, whatever the version that a watch names."""
    by_others = (other for other, ids in shared.items() if entry.id in ids)
    return next((each for each in by_others if _place(each) != _place(key)), None)


def _place(key: Key) -> tuple[str, str, str]:
    return key.gvk.group_kind, key.namespace, key.name
