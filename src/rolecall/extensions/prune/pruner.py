"""After each run: keep what it wanted, and delete what the run before wanted and it did not.

Level-based, as all else: the inventory that is kept names an object until it is gone, so a restart
between a run and a deletion costs nothing but time. The first good run after it does not want the
object either, and deletes it; and if it does want it, nothing was done wrongly.

    no good run, or one that did only a part: what it made is added, nothing is taken away
    add what it made, before anything is deleted
    each object that is no longer wanted: see `Deletion`
    what is left is the inventory of the next time

Errors of pruning are logged, and never make a successful run fail. The runs that other replicas have in
flight are unknown here: we may delete an object that such a run wants for the first time, if a run of
another CR had made it; the next run makes it again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from rolecall.errors import ClusterError, NotLeadingError
from rolecall.extensions.prune.decide import (
    Unwanted,
    joined,
    still_shared,
    wanted_by,
    without,
    would_prune,
)
from rolecall.extensions.prune.deletion import Deletion
from rolecall.extensions.prune.fate import is_owned_by_run
from rolecall.extensions.prune.fleet import Fleet
from rolecall.extensions.prune.held import why_held, why_play_holds
from rolecall.extensions.prune.inventory import Entry, Inventory, inventory_of, with_missed
from rolecall.extensions.prune.keys import Prune
from rolecall.extensions.prune.ports import FinishedRun, PrunePorts, PruneReport, Store
from rolecall.extensions.prune.reporter import PruneReporter
from rolecall.extensions.prune.shared import other_wanting
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NoSuchKindError, NotFoundError
from rolecall.record import ObjectId, RunRecord, TouchedByRun, TouchedObject, touched_by
from rolecall.workqueue import Key

_NOT_DUE = "another good run must not want it either"
_TOO_MANY = "too many would be deleted at once"
_ALWAYS_ALLOWED = 3


class Pruner:
    """One instance serves all CRs; asked once a run, while the CR's key is in hand."""

    def __init__(self, client: Client, store: Store, ports: PrunePorts) -> None:
        self._client, self._store, self._ports = client, store, ports
        self._reporter, self._fleet = PruneReporter(ports), Fleet(ports.clock)
        self._shared: dict[Key, frozenset[ObjectId]] | None = None

    async def run_ended(self, run: FinishedRun) -> None:
        """A run is over; raises only where this replica may not write any more."""
        if run.is_finalizer or (record := run.findings.of(RunRecord)) is None:
            return
        try:
            report = await self._settle(run, touched_by(record))
        except NotLeadingError:
            raise
        except ClusterError as failure:
            self._reporter.unkept(failure)
            return
        await self._reporter.report(run, report)

    async def forget(self, key: Key) -> None:
        """The CR is gone, and the garbage collector takes what it owns."""
        if self._shared is not None:
            self._shared.pop(key, None)
        try:
            await self._store.forget(key)
        except ClusterError as failure:
            self._reporter.unkept(failure)

    async def _settle(self, run: FinishedRun, touched: TouchedByRun) -> PruneReport:
        held = why_held(run, touched, self._ports.partial)
        prune = run.watch.extension(Prune)
        if prune is None:
            await self._keep_shared(run, touched, held)
            return PruneReport()
        old = await self._loaded(run)
        touched = await self._with_uids(run, old, touched)
        wanted = await self._wanted_by(old, touched, held)
        all_known = joined(wanted, old.entries)
        candidates = would_prune(old, touched, run.watch)
        shared = still_shared(old, touched, prune)
        if not held and any(not each.kept for each in candidates):
            held = await why_play_holds(run)
        if held or not candidates:
            left = all_known if held else _without_lost(all_known, wanted, (), shared)
            await self._keep(run.key, with_missed(left, {}))
            return PruneReport(held=held if candidates else "")
        await self._keep(run.key, all_known)
        if why := await self._why_outdated(run):
            return PruneReport(held=why)
        if self._ports.is_divided:
            self._shared = None
        missed = _missed_by(candidates, prune)
        deletion, stopped = await self._delete(run, prune, candidates, missed, old)
        left = _without_lost(all_known, wanted, candidates, shared)
        left = without(left, deletion.settled)
        await self._keep(run.key, with_missed(left, missed))
        if deletion.is_pending:
            self._ports.run_again(run.key)
        return replace(deletion.report(), stopped=stopped)

    async def _delete(
        self,
        run: FinishedRun,
        prune: Prune,
        candidates: Sequence[Unwanted],
        missed: Mapping[ObjectId, int],
        old: Inventory,
    ) -> tuple[Deletion, str]:
        """Delete those that enough runs did not want, unless they are too many at once."""
        due = {each.entry.id for each in candidates if missed.get(each.entry.id) == prune.good_runs}
        deletion = Deletion(self._client, self._ports, run, prune)
        stopped = _why_too_many(len(due), old, prune)
        if stopped or prune.is_report:
            await self._settle_all(deletion, candidates, due, stopped)
        elif stopped := self._fleet.reserve(run.watch.gvk, len(due), prune.fleet_limit):
            deletion.is_pending = True
            await self._settle_all(deletion, candidates, due, stopped)
        else:
            try:
                await self._settle_all(deletion, candidates, due, "")
            finally:
                self._fleet.give_back(run.watch.gvk, len(due) - deletion.count)
        return deletion, stopped

    async def _settle_all(
        self,
        deletion: Deletion,
        candidates: Sequence[Unwanted],
        due: Set[ObjectId],
        stopped: str,
    ) -> None:
        for candidate in candidates:
            entry = candidate.entry
            if not candidate.kept and entry.id not in due:
                deletion.keep(entry, _NOT_DUE)
                deletion.is_pending = True
            elif not candidate.kept and stopped:
                deletion.keep(entry, _TOO_MANY)
            elif other := await self._wanted_elsewhere(deletion.key, entry):
                deletion.keep(entry, f"{other} wants it")
            else:
                await deletion.settle(candidate)

    async def _why_outdated(self, run: FinishedRun) -> str:
        """Why the CR may want now what the run did not."""
        key = run.key
        try:
            now = await self._client.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            return "the object is gone"
        if now["metadata"].get("deletionTimestamp"):
            return "the object is being deleted"
        return "" if _wish_of(now) == _wish_of(run.cr) else "the object was edited meanwhile"

    async def _loaded(self, run: FinishedRun) -> Inventory:
        uid = str(run.cr["metadata"].get("uid") or "")
        old = await self._store.load(run.key)
        return old if old is not None and old.uid == uid else Inventory(uid)

    async def _with_uids(
        self, run: FinishedRun, old: Inventory, touched: TouchedByRun
    ) -> TouchedByRun:
        """With what the run did not see of objects that are new to us: "there already" shows none."""
        objects, known = dict(touched.objects), old.by_id()
        for each in touched.objects.values():
            if each.uid or not each.was_there or (each.id in known and known[each.id].uid):
                continue
            if not (kind := await self._kind_of(each)):
                continue
            place = each.place
            with contextlib.suppress(NotFoundError, NoSuchKindError, ForbiddenError):
                gvk = Gvk(place.group, place.version, kind)
                found = await self._client.get(gvk, place.namespace, place.name)
                metadata = found["metadata"]
                owned = is_owned_by_run(metadata, run)
                objects[each.id] = replace(each, uid=metadata["uid"], is_owned=owned)
        return replace(touched, objects=objects)

    async def _wanted_by(self, old: Inventory, touched: TouchedByRun, held: str) -> Inventory:
        wanted = [each for each in touched.objects.values() if each.is_wanted]
        kinds = {each.id: await self._kind_of(each) for each in wanted if each.uid != old.uid}
        return wanted_by(old, touched, lambda each: kinds.get(each.id), is_whole=not held)

    async def _kind_of(self, touched: TouchedObject) -> str | None:
        place = touched.place
        found = await self._client.discovery.by_plural(place.group, place.version, place.resource)
        is_deletable = found is not None and "delete" in found.verbs
        return found.gvk.kind if found is not None and is_deletable else None

    async def _keep_shared(self, run: FinishedRun, touched: TouchedByRun, held: str) -> None:
        """Of a watch that prunes nothing: what another CR must not delete."""
        old = Inventory(str(run.cr["metadata"].get("uid") or ""))
        if known := await self._own_shared(run.key):
            old = await self._loaded(run)
        wanted = await self._wanted_by(old, touched, held)
        left = joined(wanted, old.entries)
        if not held:
            left = _without_lost(left, wanted, (), still_shared(old, touched, Prune()))
        shared = inventory_of(old.uid, (each for each in left.entries if each.is_shared))
        if shared.shared != known or (known and shared != old):
            await self._store.load(run.key)
            await self._keep(run.key, shared)

    async def _own_shared(self, key: Key) -> frozenset[ObjectId]:
        if not self._ports.is_divided:
            return (await self._known_shared()).get(key, frozenset())
        stored = await self._store.load(key)
        return stored.shared if stored is not None else frozenset()

    async def _keep(self, key: Key, inventory: Inventory) -> None:
        await self._store.save(key, inventory)
        if self._shared is not None:
            self._shared.pop(key, None)
            if inventory.shared:
                self._shared[key] = inventory.shared

    async def _known_shared(self) -> dict[Key, frozenset[ObjectId]]:
        """What each CR wants that is not its own; few do."""
        if self._shared is None:
            self._shared = dict(await self._store.shared())
        return self._shared

    async def _wanted_elsewhere(self, key: Key, entry: Entry) -> Key | None:
        """Another CR that wants an object of this one, by its last run or by one in flight."""
        shared = await self._known_shared()
        return other_wanting(shared, key, entry) or self._ports.in_flight(key, entry.id)


def _without_lost(
    all_known: Inventory,
    wanted: Inventory,
    candidates: tuple[Unwanted, ...],
    shared: frozenset[ObjectId],
) -> Inventory:
    """What the run wanted, and what it did not and may still be deleted: the rest went by itself."""
    ids = wanted.by_id().keys() | {each.entry.id for each in candidates} | shared
    return inventory_of(all_known.uid, (each for each in all_known.entries if each.id in ids))


def _missed_by(candidates: Sequence[Unwanted], prune: Prune) -> dict[ObjectId, int]:
    """How many good runs in a row did not want each of those that nothing else holds."""
    return {
        each.entry.id: min(each.entry.missed + 1, prune.good_runs)
        for each in candidates
        if not each.kept
    }


def _why_too_many(due: int, old: Inventory, prune: Prune) -> str:
    owned = sum(not entry.is_shared for entry in old.entries)
    if due <= max(_ALWAYS_ALLOWED, owned * prune.limit_percent // 100):
        return ""
    return (
        f"{due} of {owned} objects are no longer wanted, and none was deleted: `prune` allows"
        f" {prune.limit_percent} %; raise `prune.limitPercent` in watches.yaml if this is right"
    )


def _wish_of(cr: Json) -> Mapping[str, object]:
    """What of a CR a role goes by: all but what servers and we keep there."""
    metadata = cr["metadata"]
    named = {name: metadata.get(name) for name in ("uid", "generation", "labels", "annotations")}
    if metadata.get("generation"):
        return named
    rest = {key: value for key, value in cr.items() if key not in ("metadata", "status")}
    return named | rest
