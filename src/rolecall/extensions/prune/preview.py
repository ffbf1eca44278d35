"""What pruning would take away after a run that is only planned: the same rules, and no write.

Read are the inventory that is kept for the CR, what other CRs want, and each object that would go.
Where inventories cannot be read, nothing is known, and that is said: a preview without deletions that
a run then makes would be wrong in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from rolecall.errors import ClusterError
from rolecall.extending import Foreseen, ForeseenObject
from rolecall.extensions.prune.decide import Unwanted, would_prune
from rolecall.extensions.prune.fate import Fate, Judged, fate_of
from rolecall.extensions.prune.held import why_held, why_play_holds
from rolecall.extensions.prune.inventory import Entry, Inventory
from rolecall.extensions.prune.keys import Prune
from rolecall.extensions.prune.ports import FinishedRun
from rolecall.extensions.prune.shared import other_wanting
from rolecall.json_object import Json
from rolecall.kube import Client, NoSuchKindError, NotFoundError
from rolecall.record import ObjectId, RunRecord, touched_by
from rolecall.workqueue import Key

_PRUNED = "pruned"


class Inventories(Protocol):
    """The inventories that are stored now, of any operator."""

    async def load(self, key: Key) -> Inventory | None: ...
    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]: ...


class PrunePreview:
    def __init__(
        self, client: Client, inventories: Callable[[], Inventories], partial: str = ""
    ) -> None:
        self._client = client
        self._inventories = inventories
        self._partial = partial

    async def of(self, run: FinishedRun) -> Foreseen:
        """What would follow from a run; reads alone."""
        prune = run.watch.extension(Prune)
        if prune is None or prune.is_report or run.is_finalizer:
            return Foreseen()
        if (record := run.findings.of(RunRecord)) is None:
            return Foreseen(unknown="pruning: there is no record of what the run asked for")
        touched = touched_by(record)
        if why_held(run, touched, self._partial):
            return Foreseen()
        inventories = self._inventories()
        try:
            old = await inventories.load(run.key)
            if old is None or old.uid != str(run.cr["metadata"].get("uid") or ""):
                return Foreseen()
            candidates = [each for each in would_prune(old, touched, run.watch) if not each.kept]
            if candidates and await why_play_holds(run):
                candidates = []
            shared = await inventories.shared() if candidates else {}
            wanted = (each for each in candidates if not other_wanting(shared, run.key, each.entry))
            found = [await self._foreseen(each, run) for each in wanted]
        except ClusterError as failure:
            hint = f" ({failure.hint})" if failure.hint else ""
            return Foreseen(unknown=f"pruning: {failure.message}{hint}")
        return Foreseen(tuple(each for each in found if each is not None))

    async def _foreseen(self, candidate: Unwanted, run: FinishedRun) -> ForeseenObject | None:
        entry = candidate.entry
        try:
            found = await self._client.get(entry.gvk, entry.namespace, entry.name)
        except (NotFoundError, NoSuchKindError):
            return None
        before = {"apiVersion": entry.gvk.api_version, "kind": entry.kind, **found}
        judged = fate_of(candidate, found["metadata"], run)
        if judged.fate is Fate.DELETED:
            return ForeseenObject(entry.place, before, None, _PRUNED)
        return _released(entry, before, judged) if judged.fate is Fate.RELEASED else None


def _released(entry: Entry, before: Json, judged: Judged) -> ForeseenObject:
    metadata = {**before["metadata"], "ownerReferences": list(judged.owners)}
    return ForeseenObject(entry.place, before, {**before, "metadata": metadata}, _PRUNED)
