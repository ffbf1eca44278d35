"""Looks at an object once more, and deletes it if it is still ours to delete.

Each deletion is bound to the UID and the version that was looked at, so whoever writes the object
meanwhile wins, and the next run decides again. It stays where it is not the object that a run made,
where it does not name the CR as its owner any more, where it is annotated so, and where the run saw it
in a list. Where others own it too, only our ownership goes: the last owner deletes it.
"""

from __future__ import annotations

from typing import Any

from rolecall.errors import ClusterError, NotLeadingError
from rolecall.json_object import Json
from rolecall.kube import Client, ConflictError, ForbiddenError, NoSuchKindError, NotFoundError
from rolecall.owner_annotations import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION
from rolecall.prune.decide import Unwanted
from rolecall.prune.inventory import Entry
from rolecall.prune.ports import FinishedRun, PrunePorts, PruneReport
from rolecall.record import ObjectPlace, TouchedByRun, meets_selector
from rolecall.workqueue import Key

PRUNE_ANNOTATION = "rolecall.dev/prune"
_CHANGED = "somebody changed it just now"


class Deletion:
    """Of the candidates of one run."""

    def __init__(
        self, client: Client, ports: PrunePorts, run: FinishedRun, touched: TouchedByRun
    ) -> None:
        self._client, self._ports = client, ports
        self._run, self._touched = run, touched
        self.settled: list[Entry] = []  # nothing is left to do about them
        self._deleted: list[str] = []
        self._released: list[str] = []
        self._kept: list[tuple[str, str]] = []
        self._refused: list[str] = []

    def report(self) -> PruneReport:
        return PruneReport("", self._deleted, self._released, self._kept, self._refused)

    def keep(self, entry: Entry, why: str) -> None:
        """It stays, and is looked at again after the next run."""
        self._kept.append((self._name(entry), why))

    async def settle(self, candidate: Unwanted) -> None:
        """Delete it, or find out why not."""
        entry = candidate.entry
        if candidate.kept:
            self.keep(entry, candidate.kept)
            return
        try:
            found = await self._client.get(entry.gvk, entry.namespace, entry.name)
            await self._settle_found(candidate, found)
        except (NotFoundError, NoSuchKindError):
            self.settled.append(entry)  # it went by itself
        except ConflictError:
            self.keep(entry, _CHANGED)
        except NotLeadingError:
            raise
        except ForbiddenError as failure:
            self._count(entry, "refused")
            self._refused.append(f"{failure.message}; {failure.hint}")
        except ClusterError as failure:
            self._count(entry, "failed")
            self.keep(entry, failure.message)

    async def _settle_found(self, candidate: Unwanted, found: Json) -> None:
        entry, metadata = candidate.entry, found["metadata"]
        if metadata.get("uid") != entry.uid or metadata.get("deletionTimestamp"):
            self.settled.append(entry)
            return
        if not _is_owned_by(metadata, self._run.key, self._run.cr):
            self.settled.append(entry)
            self.keep(entry, "it is not ours any more")
            return
        if why := self._why_kept(candidate, metadata):
            self.keep(entry, why)
        elif others := _other_owners(metadata, self._run.cr):
            await self._release(entry, metadata, others)
        else:
            await self._delete(entry, metadata)

    def _why_kept(self, candidate: Unwanted, metadata: Json) -> str:
        annotations = metadata.get("annotations") or {}
        if str(annotations.get(PRUNE_ANNOTATION, "")).lower() == "false":
            return f"annotation `{PRUNE_ANNOTATION}: false`"
        shown = next((place for place in candidate.lists if _shows(place, metadata)), None)
        return f"the run saw it in a list of {shown.resource}" if shown else ""

    async def _delete(self, entry: Entry, metadata: Json) -> None:
        prune = self._run.watch.prune
        is_foreground = prune is not None and prune.is_foreground
        self._ports.note_delete(entry.uid, True)
        try:
            await self._client.delete(
                entry.gvk,
                entry.namespace,
                entry.name,
                uid=entry.uid,
                version=str(metadata.get("resourceVersion") or ""),
                propagation="Foreground" if is_foreground else "Background",
            )
        except ClusterError:
            self._ports.note_delete(entry.uid, False)
            raise
        self._count(entry, "deleted")
        self.settled.append(entry)
        self._deleted.append(self._name(entry))

    async def _release(self, entry: Entry, metadata: Json, others: list[Any]) -> None:
        version = metadata.get("resourceVersion")
        patch = {"metadata": {"resourceVersion": version, "ownerReferences": others}}
        await self._client.merge_patch(entry.gvk, entry.namespace, entry.name, patch)
        self._count(entry, "released")
        self.settled.append(entry)
        self._released.append(self._name(entry))

    def _count(self, entry: Entry, result: str) -> None:
        self._ports.count(self._run.watch.gvk, entry.gvk.group_kind, result)

    def _name(self, entry: Entry) -> str:
        """With its namespace, where that is not the CR's."""
        if entry.namespace in ("", self._run.key.namespace):
            return str(entry)
        return f"{entry.kind} {entry.namespace}/{entry.name}"


def _is_owned_by(metadata: Json, key: Key, cr: Json) -> bool:
    """By reference, or by the annotations where Kubernetes allows none."""
    uid = cr["metadata"].get("uid")
    if any(row.get("uid") == uid for row in metadata.get("ownerReferences") or ()):
        return True
    annotations = metadata.get("annotations") or {}
    place = f"{key.namespace}/{key.name}" if key.namespace else key.name
    told = annotations.get(OWNER_ANNOTATION), annotations.get(OWNER_TYPE_ANNOTATION)
    return told == (place, key.gvk.group_kind)


def _other_owners(metadata: Json, cr: Json) -> list[Any]:
    uid = cr["metadata"].get("uid")
    return [row for row in metadata.get("ownerReferences") or () if row.get("uid") != uid]


def _shows(place: ObjectPlace, metadata: Json) -> bool:
    """Whether a list shows an object; field selectors are not looked into: it may."""
    return meets_selector(metadata.get("labels") or {}, place.label_selector)
