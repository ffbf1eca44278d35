"""The inventory of a CR: the objects that its last successful run wanted, kept between runs.

It has an entry for each object that we may delete once it is no longer wanted: one that a run of the CR
made and that the CR owns. It also contains objects that a run writes and another CR owns, marked as
shared: the owner must not delete an object that another CR still wants.

The text form is JSON of few bytes, because ten thousand CRs have one each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rolecall.gvk import Gvk
from rolecall.record import ObjectId, ObjectPlace, TaskId

_FORMAT = 2
_WITHOUT_TASKS = 1  # as releases before wrote it


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    group: str
    version: str
    kind: str
    resource: str  # its plural, as in paths
    namespace: str  # empty for a cluster-scoped kind
    name: str
    uid: str
    is_shared: bool = False  # wanted by this CR, but owned by another, or without an owner
    tasks: tuple[TaskId, ...] = ()  # that wanted it, and may want it again
    missed: int = 0  # good runs in a row that did not want it

    @property
    def id(self) -> ObjectId:
        return self.group, self.resource, self.namespace, self.name

    @property
    def place(self) -> ObjectPlace:
        return ObjectPlace(self.group, self.version, self.resource, self.namespace, self.name)

    @property
    def gvk(self) -> Gvk:
        return Gvk(self.group, self.version, self.kind)

    def __str__(self) -> str:
        """As people name it: `ConfigMap shop-2`."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """The inventory of one CR; `uid` distinguishes it from a later CR of the same name."""

    uid: str
    entries: tuple[Entry, ...] = ()

    @property
    def shared(self) -> frozenset[ObjectId]:
        return frozenset(entry.id for entry in self.entries if entry.is_shared)

    def by_id(self) -> dict[ObjectId, Entry]:
        return {entry.id: entry for entry in self.entries}

    def as_text(self) -> str:
        tasks = sorted({task for entry in self.entries for task in entry.tasks})
        number = {task: at for at, task in enumerate(tasks)}
        rows = [
            [
                *(entry.group, entry.version, entry.kind, entry.resource),
                *(entry.namespace, entry.name, entry.uid, entry.is_shared),
                *([number[task] for task in entry.tasks], entry.missed),
            ]
            for entry in sorted(self.entries)
        ]
        content = [_FORMAT, self.uid, rows, tasks]
        return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def inventory_of(uid: str, entries: Iterable[Entry]) -> Inventory:
    return Inventory(uid, tuple(sorted(entries)))


def with_missed(inventory: Inventory, missed: Mapping[ObjectId, int]) -> Inventory:
    """With how often each was not wanted in a row; 0 where nothing is said."""
    entries = (replace(each, missed=missed.get(each.id, 0)) for each in inventory.entries)
    return inventory_of(inventory.uid, entries)


def read_inventory(text: str) -> Inventory | None:
    """None where it is none that we can read: it is then as if nothing were known."""
    try:
        number, uid, rows, *more = json.loads(text)
        if not isinstance(uid, str) or (number, len(more)) not in (
            (_FORMAT, 1),
            (_WITHOUT_TASKS, 0),
        ):
            return None
        tasks = [_task(row) for row in more[0]] if more else []
        return Inventory(uid, tuple(_entry(row, tasks) for row in rows))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _task(row: list[object]) -> TaskId:
    if len(row) != 3 or not all(isinstance(text, str) for text in row):
        raise ValueError("not a task")
    return TaskId(*map(str, row))


def _entry(row: list[object], tasks: list[TaskId]) -> Entry:
    texts, rest = row[:7], row[7:]
    if len(texts) != 7 or not all(isinstance(text, str) for text in texts):
        raise ValueError("not an entry")
    group, version, kind, resource, namespace, name, uid = map(str, texts)
    is_shared, *more = rest
    numbers, missed = more if more else ([], 0)
    if type(missed) is not int:
        raise ValueError("not a number of runs")
    wanted_by = tuple(tasks[number] for number in _numbers(numbers))
    about = (group, version, kind, resource, namespace, name, uid)
    return Entry(*about, is_shared=bool(is_shared), tasks=wanted_by, missed=missed)


def _numbers(value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(each) is int and each >= 0 for each in value):
        raise ValueError("not a list of tasks")
    return value
