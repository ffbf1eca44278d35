"""What a CR owns: the objects that its runs last made sure of, as they are now, read as the reader.

An idempotent role writes an object once and looks at it from then on; so what the newest runs wrote
says little, and what they would have written had it differed counts as well. Whether it is the CR's is
asked of the object as it is now: by owner reference, or by the annotations that stand for one.

An orphan is an object that an older run wanted and the newest good run did not ask for, although the
record of that run is whole. Its task may be gone, or ask for less. An object whose task was skipped is
not an orphan.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.extensions.console.page.dependents import OwnedBelow
from rolecall.extensions.console.page.health import health_of
from rolecall.extensions.console.page.prune_words import PruneWords
from rolecall.extensions.console.page.views import OwnedObject, OwnedTree, worst_first
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.kube import ForbiddenError, NotFoundError, is_owned_by, owner_annotations
from rolecall.record import (
    RECORD_FILE,
    ObjectId,
    ObjectPlace,
    RunRecord,
    TouchedByRun,
    TouchedObject,
    id_of,
    read_record,
    touched_by,
)
from rolecall.workqueue import Key

MOST, MOST_ORPHANS = 100, 50
_AT_ONCE = 8
_RUNS_LOOKED_AT = 10
# Of CRs whose records were read; a record may be megabytes, and what is kept of it is not.
_MOST_CRS, _MOST_KEPT = 32, 1_000
_GONE = "the task that made it is gone"
_LESS = "the task that made it no longer requests it"
_SKIPPED = "its task was skipped in the last good run"
_FORBIDDEN = "Some objects that its runs requested are not shown, because you may not read them."
_FAILED = "Some objects that its runs requested could not be read; reload the page."


@dataclass(frozen=True, slots=True)
class AskedObject:
    """An object that a run wanted, with the task that asked for it last."""

    place: ObjectPlace
    task: str = ""  # its place
    run: str = ""
    why_not: str = ""  # why the newest good run did not ask for it; empty: it did
    is_orphan: bool = False


def asked_for(runs: Sequence[KeptRun]) -> Sequence[AskedObject]:
    """What the newest runs that left a record made sure of, and what no task asks for any more.

    Reads files, once for each set of runs.
    """
    kept = [run for run in runs if (run.folder / RECORD_FILE).exists()][:_RUNS_LOOKED_AT]
    return _asked_in(tuple((run.folder, run.run, _is_whole(run)) for run in kept))


def _is_whole(run: KeptRun) -> bool:
    return run.outcome == "succeeded" and not run.is_finalizer


@lru_cache(maxsize=_MOST_CRS)
def _asked_in(runs: tuple[tuple[Path, str, bool], ...]) -> Sequence[AskedObject]:
    found: dict[ObjectId, AskedObject] = {}
    newest: TouchedByRun | None = None  # that was good
    for folder, name, is_whole in runs:
        record = read_record(folder)
        if record is None:
            continue
        touched, tasks = touched_by(record), _tasks_of(record)
        for about, each in touched.objects.items():
            is_new = about not in found and len(found) < _MOST_KEPT
            if is_new and each.is_wanted and not _is_deleted_by(newest, about):
                why_not, is_orphan = _judged(each, newest)
                task = tasks.get(about, "")
                found[about] = AskedObject(each.place, task, name, why_not, is_orphan)
        if newest is None and is_whole and not touched.unknown:
            newest = touched
    return tuple(sorted(found.values(), key=lambda each: each.is_orphan))


def _is_deleted_by(newest: TouchedByRun | None, about: ObjectId) -> bool:
    known = newest.objects.get(about) if newest is not None else None
    return known is not None and known.is_missing


def _judged(old: TouchedObject, newest: TouchedByRun | None) -> tuple[str, bool]:
    """Why the newest good run did not ask for it, where that is so; and whether it is an orphan."""
    if newest is None or old.id in newest.objects or not old.wanted_by:
        return "", False
    ends = [newest.tasks.get(task) for task in old.wanted_by]
    if any(ends):
        return _LESS, True
    is_skipped = False in ends or bool(newest.skipped_includes)
    return (_SKIPPED, False) if is_skipped else (_GONE, True)


async def tree_of(
    asked: Sequence[AskedObject],
    runs: Sequence[KeptRun],
    key: Key,
    cr: Json,
    client: ReaderClient,
) -> OwnedTree:
    """Those of them that the CR owns or that are gone, with what lies below."""
    gate = asyncio.Semaphore(_AT_ONCE)
    reading = _Reading(key, cr, client, OwnedBelow(client, gate), _prune_words(runs))
    chosen = list(_chosen(asked))

    async def look(each: AskedObject) -> _Found:
        async with gate:
            return await reading.found(each)

    found = await asyncio.gather(*map(look, chosen))
    for each in found:
        if isinstance(each, tuple):
            reading.dependents.reserve(each[1])
    shown = await asyncio.gather(*map(reading.shown, chosen, found))
    return OwnedTree(
        worst_first([each for each in shown if each is not None]),
        [*sorted(reading.hidden), *reading.dependents.hidden],
        len(asked) - len(chosen),
        reading.pruning.on_all if any(each.is_orphan for each in shown if each) else [],
    )


def _chosen(asked: Sequence[AskedObject]) -> Iterator[AskedObject]:
    yield from [each for each in asked if not each.is_orphan][:MOST]
    yield from [each for each in asked if each.is_orphan][:MOST_ORPHANS]


def _prune_words(runs: Sequence[KeptRun]) -> PruneWords:
    return PruneWords(next((run.pruned for run in runs if _is_whole(run)), {}))


_Found = tuple[Gvk, Json] | NotFoundError | None


@dataclass(slots=True)
class _Reading:
    """Of one CR's objects, for one reader."""

    key: Key
    cr: Json
    client: ReaderClient
    dependents: OwnedBelow
    pruning: PruneWords
    hidden: set[str] = field(default_factory=set)

    async def found(self, asked: AskedObject) -> _Found:
        place = asked.place
        try:
            discovery = self.client.discovery
            resource = await discovery.by_plural(place.group, place.version, place.resource)
            if resource is None:
                return None
            return resource.gvk, await self.client.get(resource.gvk, place.namespace, place.name)
        except NotFoundError as gone:
            return gone
        except ForbiddenError:
            self.hidden.add(_FORBIDDEN)
        except ClusterError:
            self.hidden.add(_FAILED)
        return None

    async def shown(self, asked: AskedObject, found: _Found) -> OwnedObject | None:
        place = asked.place
        if found is None:
            return None
        if isinstance(found, NotFoundError):
            if asked.why_not:
                return None  # as it should be
            where = place.namespace, place.name
            return OwnedObject(place.resource, *where, "gone", False, asked.task, is_gone=True)
        gvk, body = found
        metadata = as_map(body.get("metadata"))
        if not self._is_ours(metadata):
            return None
        below = await self.dependents.below(gvk, body)
        health = below.health or health_of(gvk, body)
        words = self.pruning.on(gvk.kind, place.namespace, place.name) if asked.is_orphan else ""
        return OwnedObject(
            gvk.kind,
            place.namespace,
            place.name,
            health.words,
            health.is_well,
            asked.task,
            why=health.why,
            created=str(metadata.get("creationTimestamp") or ""),
            gvk=gvk,
            why_not=asked.why_not,
            is_orphan=asked.is_orphan,
            run=asked.run,
            pruning=words,
            below=below.objects,
            left_out=below.left_out,
        )

    def _is_ours(self, metadata: Json) -> bool:
        key, uid = self.key, str(as_map(self.cr.get("metadata")).get("uid") or "")
        annotations = owner_annotations(key.gvk, key.namespace, key.name)
        return is_owned_by(metadata, uid, annotations)


def _tasks_of(record: RunRecord) -> dict[ObjectId, str]:
    """The place of the task that last asked for each object."""
    found: dict[ObjectId, str] = {}
    for request in record.requests:
        task = record.task_of(request)
        if request.name and task is not None:
            about = (request.group, request.version, request.resource, request.namespace)
            found[id_of(ObjectPlace(*about, request.name))] = task.place
    return found
