"""Reads an object again, and deletes it if it is still ours to delete (`fate_of`).

Each deletion has the UID and the version of that read as its precondition, so a concurrent write wins,
and the next run decides again.
"""

from __future__ import annotations

from typing import Any

from rolecall.errors import ClusterError, NotLeadingError
from rolecall.extensions.prune.decide import Unwanted
from rolecall.extensions.prune.fate import Fate, fate_of
from rolecall.extensions.prune.inventory import Entry
from rolecall.extensions.prune.keys import Prune
from rolecall.extensions.prune.ports import FinishedRun, PrunePorts, PruneReport
from rolecall.json_object import Json
from rolecall.kube import Client, ConflictError, ForbiddenError, NoSuchKindError, NotFoundError
from rolecall.workqueue import Key

_CHANGED = "it was modified concurrently"
_NOT_SERVED = "its kind is not served at the moment"


class Deletion:
    """Of the candidates of one run."""

    def __init__(self, client: Client, ports: PrunePorts, run: FinishedRun, prune: Prune) -> None:
        self._client, self._ports, self._run, self._prune = client, ports, run, prune
        self.settled: list[Entry] = []  # nothing is left to do about them
        self.is_pending = False  # a deletion was put off or refused, and is tried again
        self._deleted: list[str] = []
        self._released: list[str] = []
        self._kept: list[tuple[str, str]] = []
        self._refused: list[str] = []
        self._reported: list[str] = []

    @property
    def key(self) -> Key:
        """The CR."""
        return self._run.key

    @property
    def count(self) -> int:
        """How many were deleted."""
        return len(self._deleted)

    def report(self) -> PruneReport:
        return PruneReport(
            "", self._deleted, self._released, self._kept, self._refused, self._reported
        )

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
        except NotFoundError:
            self.settled.append(entry)  # it went by itself
        except NoSuchKindError:  # its API may be down, and the object still there
            self.is_pending = True
            self.keep(entry, _NOT_SERVED)
        except ConflictError:
            self.is_pending = True
            self.keep(entry, _CHANGED)
        except NotLeadingError:
            raise
        except ForbiddenError as failure:
            self.is_pending = True
            self._count(entry, "refused")
            self._refused.append(f"{failure.message}; {failure.hint}")
        except ClusterError as failure:
            self.is_pending = True
            self._count(entry, "failed")
            self.keep(entry, failure.message)

    async def _settle_found(self, candidate: Unwanted, found: Json) -> None:
        entry, metadata = candidate.entry, found["metadata"]
        judged = fate_of(candidate, metadata, self._run)
        if judged.fate in (Fate.GONE, Fate.NOT_OURS):
            self.settled.append(entry)
        if self._prune.is_report and judged.fate in (Fate.RELEASED, Fate.DELETED):
            self._reported.append(self._name(entry))
            return
        match judged.fate:
            case Fate.NOT_OURS | Fate.KEPT:
                self.keep(entry, judged.why)
            case Fate.RELEASED:
                await self._release(entry, metadata, list(judged.owners))
            case Fate.DELETED:
                await self._delete(entry, metadata)

    async def _delete(self, entry: Entry, metadata: Json) -> None:
        self._ports.note_delete(entry.uid, True)
        try:
            await self._client.delete(
                entry.gvk,
                entry.namespace,
                entry.name,
                uid=entry.uid,
                version=str(metadata.get("resourceVersion") or ""),
                propagation="Foreground" if self._prune.is_foreground else "Background",
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
