"""What a CR owns: the objects that its kept runs wrote, as they are now, read as the reader."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from rolecall.page.views import OwnedObject
from rolecall.record import RunRecord, read_record

_MOST = 60
_AT_ONCE = 8
_RUNS_LOOKED_AT = 5

_Place = tuple[str, str, str, str, str]  # group, version, plural, namespace, name


def written_by(runs: Sequence[KeptRun]) -> dict[_Place, str]:
    """Objects that the newest runs wrote, with the task that did it last; reads files."""
    found: dict[_Place, str] = {}
    for run in runs[:_RUNS_LOOKED_AT]:
        record = read_record(run.folder)
        if record is not None:
            for place, task in _writes_of(record).items():
                found.setdefault(place, task)
    return found


async def as_they_are(written: Mapping[_Place, str], uid: str, client: Client) -> list[OwnedObject]:
    """Those of them that the CR owns, or that are gone."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def look(place: _Place, task: str) -> OwnedObject | None:
        async with gate:
            return await _look(place, task, uid, client)

    looks = [look(place, task) for place, task in list(written.items())[:_MOST]]
    seen = await asyncio.gather(*looks)
    return sorted(
        (each for each in seen if each is not None), key=lambda each: (each.kind, each.name)
    )


async def _look(place: _Place, task: str, uid: str, client: Client) -> OwnedObject | None:
    group, version, plural, namespace, name = place
    try:
        resource = await client.discovery.by_plural(group, version, plural)
        if resource is None:
            return None
        found = await client.get(resource.gvk, namespace, name)
    except NotFoundError:
        return OwnedObject(plural, namespace, name, "", None, task, is_gone=True)
    except ClusterError:
        return None  # not for this reader
    owners = _list(_dict(found.get("metadata")).get("ownerReferences"))
    if not any(_dict(owner).get("uid") == uid for owner in owners):
        return None
    health, is_well = health_of(resource.gvk, found)
    return OwnedObject(resource.gvk.kind, namespace, name, health, is_well, task)


def health_of(gvk: Gvk, found: Json) -> tuple[str, bool | None]:
    """In a word or two, and whether that is good; None: nobody can say."""
    spec, status = _dict(found.get("spec")), _dict(found.get("status"))
    if _dict(found.get("metadata")).get("deletionTimestamp"):
        return "is being deleted", False
    match gvk.kind:
        case "Deployment" | "StatefulSet" | "ReplicaSet":
            wanted, ready = spec.get("replicas", 1), status.get("readyReplicas") or 0
            return f"{ready} of {wanted} ready", ready == wanted
        case "DaemonSet":
            wanted, ready = status.get("desiredNumberScheduled"), status.get("numberReady")
            return f"{ready} of {wanted} ready", ready == wanted
        case "Pod" | "PersistentVolumeClaim" | "PersistentVolume" | "Namespace":
            phase = str(status.get("phase") or "")
            return phase, phase in ("Running", "Succeeded", "Bound", "Active", "Available")
        case "Job":
            failed = status.get("failed") or 0
            return f"{status.get('succeeded') or 0} succeeded, {failed} failed", not failed
    return _by_condition(status)


def _by_condition(status: Json) -> tuple[str, bool | None]:
    for each in map(_dict, _list(status.get("conditions"))):
        kind = str(each.get("type"))
        if kind in ("Ready", "Available", "Established"):
            is_true = each.get("status") == "True"
            return kind if is_true else f"not {kind}", is_true
    return "there", None


def _dict(value: object) -> Json:
    """Objects of other people's kinds may have anything in these places."""
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _writes_of(record: RunRecord) -> dict[_Place, str]:
    """The last write of each object, newest of the run."""
    found: dict[_Place, str] = {}
    for request in record.requests:
        if not request.is_write or request.verb == "delete" or not 200 <= request.code < 300:
            continue
        if not request.name or request.subresource:
            continue
        task = record.task_of(request)
        place = (request.group, request.version, request.resource, request.namespace, request.name)
        found[place] = task.place if task is not None else ""
    return found
