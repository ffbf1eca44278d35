"""Which objects are no longer wanted: the inventory of the run before, and what the last run touched.

The rule: an object is deleted only if the task that made it ran to its end in this run, and would have
made it again. A task that was skipped, or was not reached, may want all that it made. A task that runs
a program (helm, kubectl in a shell) may touch nothing because nothing changed, so what it made stays,
unless the watch lists the task.

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
from dataclasses import dataclass, replace

from rolecall.extensions.prune.inventory import Entry, Inventory, inventory_of
from rolecall.extensions.prune.keys import Prune, must_be_named
from rolecall.record import ObjectId, ObjectPlace, TaskId, TouchedByRun, TouchedObject
from rolecall.watches import Watch
from rolecall_base.purity import full_name

# Modules that ask for each of their objects in each run: what such a task did not ask for, it does not
# want. Every other action may keep a state of its own.
_DECLARATIVE = frozenset(
    {
        *("kubernetes.core.k8s", "kubernetes.core.k8s_json_patch", "kubernetes.core.k8s_scale"),
        *("kubernetes.core.k8s_service", "redhat.openshift.k8s"),
    }
)
# Written once and gone by themselves.
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
    if (prune := watch.extension(Prune)) is None:
        return ()
    # One object may be served by two API groups, under one UID.
    uids = {each.uid for each in new.objects.values() if each.uid and not each.is_missing}
    return tuple(
        _judged(entry, new, prune)
        for entry in old.entries
        if not entry.is_shared and entry.id not in new.objects and entry.uid not in uids
    )


def still_shared(old: Inventory, new: TouchedByRun, prune: Prune) -> frozenset[ObjectId]:
    """Objects of others that a task may want, though it did not ask for them in this run."""
    return frozenset(
        entry.id
        for entry in old.entries
        if entry.is_shared and entry.id not in new.objects and _why_unsure(entry, new, prune)
    )


def wanted_by(
    old: Inventory,
    new: TouchedByRun,
    kind_of: Callable[[TouchedObject], str | None],
    *,
    is_whole: bool = True,
) -> Inventory:
    """The inventory of a run; `kind_of` is None of what is no object that can be deleted.

    Of a run that is not whole nothing is taken for what a task does not want.
    """
    known, entries = old.by_id(), []
    for touched in new.objects.values():
        if touched.is_missing or touched.place.resource in _NEVER_KEPT:
            continue
        before = known.get(touched.id)
        if not touched.is_wanted:
            entries += [before] if before is not None else []
            continue
        tasks = tuple(_tasks_of(touched, before, new if is_whole else None))
        is_new = before is None and touched.was_there
        if (touched.uid or is_new) and (kind := kind_of(touched)):
            entries.append(_entry(touched, kind, tasks))
        elif before is not None:  # its kind is not known at the moment, or its write was refused
            entries.append(replace(before, tasks=tasks))
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


def _tasks_of(
    touched: TouchedObject, before: Entry | None, new: TouchedByRun | None
) -> list[TaskId]:
    """Those that wanted it now, and of earlier ones those that had no say in this run.

    A task wants an object by its name, also where a person made it anew meanwhile.
    """
    earlier = before.tasks if before is not None else ()
    ended = new.tasks if new is not None else {}
    return sorted({*touched.wanted_by, *(each for each in earlier if not ended.get(each))})


def _entry(touched: TouchedObject, kind: str, tasks: Iterable[TaskId]) -> Entry:
    place = touched.place
    about = (place.group, place.version, kind, place.resource, place.namespace, place.name)
    return Entry(*about, touched.uid, is_shared=not touched.is_owned, tasks=tuple(tasks))


def _judged(entry: Entry, new: TouchedByRun, prune: Prune) -> Unwanted:
    if must_be_named(entry.group, entry.resource) and not _is_named(entry, prune):
        return Unwanted(entry, f"`prune` does not name kind {entry.gvk.group_kind}")
    if why := _why_unsure(entry, new, prune):
        return Unwanted(entry, why)
    if prune.even_if_listed:
        return Unwanted(entry)
    return Unwanted(entry, lists=tuple(place for place in new.lists if _may_show(place, entry)))


def _why_unsure(entry: Entry, new: TouchedByRun, prune: Prune) -> str:
    """Why a task may want the object, though it did not ask for it in this run."""
    if not entry.tasks:
        return "the task that made it is not known"
    for task in entry.tasks:
        if full_name(task.action) not in _DECLARATIVE and task.name not in prune.tasks:
            return f"`{task.action}` of task `{task.name}` may keep state of its own; see `prune.tasks`"
        if (has_ended := new.tasks.get(task)) is None:
            return f"the run did not reach task `{task.name}`"
        if not has_ended:
            return f"a condition skipped task `{task.name}`, or an item of it"
    if include := next((each for each in new.skipped_includes if _may_hold(each, entry)), ""):
        return f"a condition skipped the include of `{include}`"
    return ""


def _may_hold(include: str, entry: Entry) -> bool:
    """Whether what a task with these arguments includes may be where the object's tasks are."""
    if "{" in include or "[" in include or "=" not in include:
        return True
    values = [part.partition("=")[2].strip("'\" ") for part in include.split(", ")]
    texts = {value.rpartition("/")[2] for value in values} | set(values)
    return any(_stems(task.file) & {_stem(text) for text in texts} for task in entry.tasks)


def _stems(file: str) -> set[str]:
    return {_stem(part) for part in file.split("/")}


def _stem(part: str) -> str:
    return part.removesuffix(".yml").removesuffix(".yaml").rpartition(".")[2]


def _is_named(entry: Entry, prune: Prune) -> bool:
    """Whatever the version: an object is served in all."""
    return entry.gvk.group_kind in {kind.group_kind for kind in prune.kinds}


def _may_show(place: ObjectPlace, entry: Entry) -> bool:
    is_kind = (place.group, place.resource) == (entry.group, entry.resource)
    return is_kind and place.namespace in ("", entry.namespace)
