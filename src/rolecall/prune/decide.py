"""Which objects are no longer wanted: the inventory of the run before, and what the last run touched.

Pure, so that a preview can ask too. What a run wrote, or read by name, is wanted. So is what it saw in
a list, unless the watch says otherwise: a role that looks whether there is a Job before it makes one
would make another as soon as that were deleted. Of kinds that hold data of their own, or whose deletion
takes other objects along, only those are deleted that the watch names.

The inventory of a run is what it wanted: what it created or wrote, what a task looked at that would
have written it, and of the inventory before whatever was at least read. An idempotent role writes on
its first run alone, so an inventory of written objects would forget them with the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rolecall.prune.inventory import Entry, Inventory, inventory_of
from rolecall.record import ObjectPlace, TouchedByRun, TouchedObject
from rolecall.watches import Prune, Watch

# Deleting one of these may lose data, or other objects with it.
_ONLY_WHERE_NAMED = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "namespaces"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
    }
)
# Others that end in `.k8s.io` are CRDs, and some of those hold data: snapshots of volumes, for one.
_BUILT_IN = frozenset(
    {"", "apps", "batch", "autoscaling", "policy", "extensions"}
    | {
        f"{group}.k8s.io"
        for group in (
            *("admissionregistration", "apiextensions", "apiregistration", "certificates"),
            *("coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node"),
            *("rbac.authorization", "resource", "scheduling", "storage"),
        )
    }
)
# Told once and gone by themselves.
_NEVER_KEPT = frozenset({"events", "leases"})


@dataclass(frozen=True, slots=True)
class Unwanted:
    """An object that the run before wanted and the last one did not."""

    entry: Entry
    kept: str = ""  # why it stays all the same; empty: it is to be deleted
    # Lists of the run that show it where its labels, which are not known here, meet their selectors.
    lists: tuple[ObjectPlace, ...] = ()


def would_prune(old: Inventory, new: TouchedByRun, watch: Watch) -> tuple[Unwanted, ...]:
    """What would go, and what would stay and why, after a run that touched these objects."""
    if watch.prune is None:
        return ()
    return tuple(
        _judged(entry, new, watch.prune)
        for entry in old.entries
        if not entry.is_shared and entry.id not in new.objects
    )


def wanted_by(
    old: Inventory, new: TouchedByRun, kind_of: Callable[[TouchedObject], str | None]
) -> Inventory:
    """The inventory of a good run; `kind_of` is None of what is no object that can be deleted."""
    known, entries = old.by_id(), []
    for touched in new.objects.values():
        if touched.is_missing or touched.place.resource in _NEVER_KEPT:
            continue
        before = known.get(touched.id)
        if before is not None and not touched.is_wanted:
            entries.append(before)
        elif touched.is_wanted and touched.uid and (kind := kind_of(touched)):
            entries.append(_entry(touched, kind))
    return inventory_of(old.uid, entries)


def without(inventory: Inventory, gone: Iterable[Entry]) -> Inventory:
    ids = {entry.id for entry in gone}
    return inventory_of(inventory.uid, (each for each in inventory.entries if each.id not in ids))


def joined(inventory: Inventory, more: Iterable[Entry]) -> Inventory:
    """With entries that are not in it yet."""
    ids = inventory.by_id()
    return inventory_of(
        inventory.uid, (*inventory.entries, *(each for each in more if each.id not in ids))
    )


def _entry(touched: TouchedObject, kind: str) -> Entry:
    place = touched.place
    about = (place.group, place.version, kind, place.resource, place.namespace, place.name)
    return Entry(*about, touched.uid, is_shared=not touched.is_owned)


def must_be_named(group: str, resource: str) -> bool:
    """Whether objects of a kind are deleted only where the watch names it."""
    return group not in _BUILT_IN or (group, resource) in _ONLY_WHERE_NAMED


def _judged(entry: Entry, new: TouchedByRun, prune: Prune) -> Unwanted:
    if must_be_named(entry.group, entry.resource) and not _is_named(entry, prune):
        return Unwanted(entry, f"`prune` does not name kind {entry.gvk.group_kind}")
    if prune.even_if_listed:
        return Unwanted(entry)
    return Unwanted(entry, lists=tuple(place for place in new.lists if _may_show(place, entry)))


def _is_named(entry: Entry, prune: Prune) -> bool:
    """Whatever the version: an object is served in all."""
    return entry.gvk.group_kind in {kind.group_kind for kind in prune.kinds}


def _may_show(place: ObjectPlace, entry: Entry) -> bool:
    is_kind = (place.group, place.resource) == (entry.group, entry.resource)
    return is_kind and place.namespace in ("", entry.namespace)
