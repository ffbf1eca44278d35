"""Restores the owner reference of an object that lost it.

An object without its owner stays when the CR is deleted, and its changes start no run. Promise: an
object that a run requested by name, and that an earlier run saw as owned by the CR, has the CR as its
owner again after the run: written or only read, because many roles write only differences. We never
change an object that has any owner now, one that the role itself released, and the objects of a CR that
is being deleted: `kubectl delete --cascade=orphan` removes owner references so that the objects stay.

The hard part is that deletion, which can begin at any moment of a run. Its order helps: the API server
marks the CR as deleted first, and then the garbage collector removes the owner references. So we read
the CR after the object, and the patch is valid only for the version of the object that was read.

A role may release an object, so that it outlives the CR. We must not undo a release that is missing
from the records: so records count, from the newest back, only up to the first run without a complete
record.

We read the former ownership from the records of earlier runs, and only for a run that accessed an
object without an owner. Rejected: to keep it in memory, which grows with each object and is lost at a
restart; and to trust the names of objects, which any client can use.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from rolecall.errors import ClusterError, NotLeadingError
from rolecall.gvk import Gvk
from rolecall.history import kept_cr
from rolecall.json_object import Json
from rolecall.kube import OWNER_ANNOTATION, Client, ConflictError, NotFoundError, Resource
from rolecall.log_fields import log_fields
from rolecall.plain_text import listed
from rolecall.proxy import Owner, owner_patch, tie_for
from rolecall.reconcile import EndedRun, EventRecorder
from rolecall.record import (
    MOST_LEAVES,
    RecordedRequest,
    RequestsSoFar,
    RunRecord,
    TouchedObject,
    read_record,
    touched_by,
)

OWNER_RESTORED = "OwnerRestored"
# What is remembered as never owned; beyond that, records are read once more.
_REMEMBERED = 4096
_OWNERS = ".metadata.ownerReferences"

_logger = logging.getLogger(__name__)


class LostOwners:
    def __init__(
        self,
        client: Client,
        artifacts: Path,
        events: EventRecorder,
        note_write: Callable[[str, str], None],
    ) -> None:
        self._client, self._artifacts, self._events = client, artifacts, events
        self._note_write = note_write
        self._never_owned: set[tuple[str, str]] = set()  # UIDs of CR and object

    async def run_ended(self, run: EndedRun) -> None:
        """Look at what a run met; raises only where this replica may not write any more."""
        if run.is_finalizer or (asked := run.findings.of(RequestsSoFar)) is None:
            return
        owner = Owner.of(run.cr)
        self._forget_adopted(owner, run)
        unowned = {
            uid
            for uid in asked.unowned()
            if uid != owner.uid and (owner.uid, uid) not in self._never_owned
        }
        if not unowned or (record := run.findings.of(RunRecord)) is None:
            return
        touched = touched_by(record)
        if touched.unknown:
            return
        objects = touched.objects.values()
        seen = [each for each in objects if each.uid in unowned and not each.is_missing]
        lost = await self._once_owned(owner, {each.uid for each in seen}, record)
        self._remember({(owner.uid, each.uid) for each in seen if each.uid not in lost})
        restored = [await self._restored(owner, each) for each in seen if each.uid in lost]
        self._log_and_post(run, [name for name in restored if name])

    async def was_owned(self, owner: Owner, uid: str) -> bool:
        """Whether an object without an owner had this one, and gets it back when the run is over."""
        return bool(await self._once_owned(owner, {uid}))

    async def _once_owned(self, owner: Owner, uids: Collection[str], *now: RunRecord) -> set[str]:
        return await asyncio.to_thread(_once_owned, self._artifacts, owner, uids, now)

    async def _restored(self, owner: Owner, touched: TouchedObject) -> str:
        """The object, as people name it, that has its owner again; empty: it is left as it is."""
        place = touched.place
        find = self._client.discovery.by_plural
        try:
            resource = await find(place.group, place.version, place.resource)
            if resource is None:
                return ""
            metadata = await self._unowned(resource.gvk, touched)
            if metadata is None or not await self._is_there_to_stay(owner):
                return ""
            return await self._give(owner, resource, metadata)
        except (NotFoundError, ConflictError):
            return ""  # modified concurrently; the next run looks again
        except NotLeadingError:
            raise
        except ClusterError as failure:
            fields = log_fields(
                kind=place.resource, name=place.name, why=failure.message, hint=failure.hint
            )
            _logger.warning("an object lost its owner, and it could not be restored", extra=fields)
            return ""

    async def _unowned(self, kind: Gvk, touched: TouchedObject) -> Json | None:
        """Its current metadata, if it is the same object and has no owner."""
        now = await self._client.get(kind, touched.place.namespace, touched.place.name)
        metadata: Json = now["metadata"]
        is_same = metadata.get("uid") == touched.uid and not metadata.get("deletionTimestamp")
        names_any = metadata.get("ownerReferences") or OWNER_ANNOTATION in (
            metadata.get("annotations") or {}
        )
        return metadata if is_same and not names_any else None

    async def _is_there_to_stay(self, owner: Owner) -> bool:
        now = (await self._client.get(owner.gvk, owner.namespace, owner.name))["metadata"]
        return now.get("uid") == owner.uid and not now.get("deletionTimestamp")

    async def _give(self, owner: Owner, resource: Resource, metadata: Json) -> str:
        namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
        tie = tie_for(owner, is_namespaced=resource.namespaced, namespace=namespace)
        patch = owner_patch(metadata, owner, tie)
        now = await self._client.merge_patch(resource.gvk, namespace, name, patch)
        self._note_write(str(metadata["uid"]), str(now["metadata"]["resourceVersion"]))
        return f"{resource.gvk.kind} {name}"

    def _forget_adopted(self, owner: Owner, run: EndedRun) -> None:
        """What was never owned may have got its owner since."""
        if self._never_owned and (record := run.findings.of(RunRecord)) is not None:
            self._never_owned -= {
                (owner.uid, each.uid) for each in record.requests if each.is_owned
            }

    def _remember(self, never_owned: set[tuple[str, str]]) -> None:
        if len(self._never_owned) + len(never_owned) > _REMEMBERED:
            self._never_owned.clear()
        self._never_owned |= never_owned

    def _log_and_post(self, run: EndedRun, names: list[str]) -> None:
        if not names:
            return
        shown = listed(names)
        key = run.key
        about = {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
        _logger.info("owner restored", extra=log_fields(**about, objects=shown))
        message = f"Restored the owner of {shown}, which another client had removed"
        self._events.record(run.cr, kind="Normal", reason=OWNER_RESTORED, message=message)


def _once_owned(
    artifacts: Path, owner: Owner, uids: Collection[str], now: Iterable[RunRecord]
) -> set[str]:
    """Those that a run has seen as the CR's own, unless a later one spoke of owners; blocking."""
    found: set[str] = set()
    unknown = set(uids)
    for record in (*now, *_earlier(artifacts, owner)):
        for request in reversed(record.requests):
            if request.uid not in unknown:
                continue
            if _may_give_up(request):
                unknown.discard(request.uid)  # the role gave it up
            elif request.is_owned:
                unknown.discard(request.uid)
                found.add(request.uid)
        if not unknown:
            break
    return found


def _earlier(artifacts: Path, owner: Owner) -> Iterator[RunRecord]:
    """Of this very CR, newest first, back to the first run that is not known as a whole."""
    for run in kept_cr(artifacts, owner.gvk, owner.namespace, owner.name).runs():
        if run.outcome == "running":
            continue
        record = read_record(run.folder) if run.uid == owner.uid else None
        if record is None or touched_by(record).unknown:
            return
        yield record


def _may_give_up(request: RecordedRequest) -> bool:
    """Whether a write speaks of owners, or is too long or too odd to know."""
    if request.verb not in ("update", "patch") or request.subresource:
        return False
    if not 0 < len(request.leaves) < MOST_LEAVES:
        return True
    return any(leaf.startswith(_OWNERS) for leaf in request.leaves)
