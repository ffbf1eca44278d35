"""What a CR owns: the objects that its runs last made sure of, as they are now, read as the reader.

An idempotent role writes an object once and looks at it from then on; so what the newest runs wrote
says little, and what they would have written had it differed counts as well. Whether it is the CR's is
asked of the object as it is now: by owner reference, or by the annotations that stand for one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.extensions.console.page.health import health_of
from rolecall.extensions.console.page.views import OwnedObject
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.kube import NotFoundError, is_owned_by, owner_annotations
from rolecall.record import ObjectId, ObjectPlace, RunRecord, id_of, read_record, touched_by
from rolecall.workqueue import Key

MOST = 100
_AT_ONCE = 8
_RUNS_LOOKED_AT = 5

WantedObjects = Mapping[ObjectPlace, str]  # each with the place of the task that last asked for it


def wanted_by(runs: Sequence[KeptRun]) -> WantedObjects:
    """What the newest runs that left a record made sure of; reads files."""
    found: dict[ObjectId, tuple[ObjectPlace, str]] = {}
    for run in runs[:_RUNS_LOOKED_AT]:
        record = read_record(run.folder)
        if record is None:
            continue
        tasks = _tasks_of(record)
        for name, touched in touched_by(record).objects.items():
            if touched.is_wanted:
                found.setdefault(name, (touched.place, tasks.get(name, "")))
    return dict(found.values())


async def as_they_are(
    wanted: WantedObjects, key: Key, cr: Json, client: ReaderClient
) -> list[OwnedObject]:
    """The first `MOST` of them that the CR owns, or that are gone."""
    gate = asyncio.Semaphore(_AT_ONCE)
    uid = str(as_map(cr.get("metadata")).get("uid") or "")
    annotations = owner_annotations(key.gvk, key.namespace, key.name)

    def is_ours(found: Json) -> bool:
        return is_owned_by(as_map(found.get("metadata")), uid, annotations)

    async def look(place: ObjectPlace, task: str) -> OwnedObject | None:
        async with gate:
            return await _look(place, task, is_ours, client)

    seen = await asyncio.gather(*(look(*each) for each in list(wanted.items())[:MOST]))
    return sorted(
        (each for each in seen if each is not None), key=lambda each: (each.kind, each.name)
    )


async def _look(
    place: ObjectPlace, task: str, is_ours: Callable[[Json], bool], client: ReaderClient
) -> OwnedObject | None:
    try:
        resource = await client.discovery.by_plural(place.group, place.version, place.resource)
        if resource is None:
            return None
        found = await client.get(resource.gvk, place.namespace, place.name)
    except NotFoundError:
        return OwnedObject(
            place.resource, place.namespace, place.name, "", None, task, is_gone=True
        )
    except ClusterError:
        return None  # not for this reader
    if not is_ours(found):
        return None
    health, is_well = health_of(resource.gvk, found)
    return OwnedObject(resource.gvk.kind, place.namespace, place.name, health, is_well, task)


def _tasks_of(record: RunRecord) -> dict[ObjectId, str]:
    """The place of the task that last asked for each object."""
    found: dict[ObjectId, str] = {}
    for request in record.requests:
        task = record.task_of(request)
        if request.name and task is not None:
            about = (request.group, request.version, request.resource, request.namespace)
            found[id_of(ObjectPlace(*about, request.name))] = task.place
    return found
