"""What follows from what runs read and wrote: lost owners, pruning, and reads that bring CRs back.

Asked once after each run, while its CR is in hand. The last two are off until a watch asks for them,
and cost nothing then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rolecall.acting import RightToAct, acting_for
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.log_fields import log_fields
from rolecall.lost_owners import LostOwners
from rolecall.metrics import EngineMetrics
from rolecall.prune import InventoryStore, PruneEvents, PrunePorts, Pruner, partial_by
from rolecall.reactor import Change, DependentInformers, ReadInformers, ReadPorts, Sink
from rolecall.reconcile import EndedRun
from rolecall.record import ObjectId, RunNotes
from rolecall.settings import Settings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AfterRunParts:
    """What is connected here."""

    client: Client
    sink: Sink
    dependents: DependentInformers
    lost_owners: LostOwners
    events: PruneEvents
    metrics: EngineMetrics
    supervisor: Supervisor
    in_flight: Callable[[], Mapping[Key, RunNotes]]
    hand_for: Callable[[Key], RightToAct | None]
    run_again: Callable[[Key], None]  # the CR's next run is not skipped


class AfterRuns:
    def __init__(
        self,
        watches: Sequence[Watch],
        settings: Settings,
        environment: Mapping[str, str],
        parts: AfterRunParts,
    ) -> None:
        self._parts = parts
        self._namespaces = settings.reactor.namespaces
        self._kinds = {watch.gvk for watch in watches}
        self._prunes = any(watch.prune is not None for watch in watches)
        partial = partial_by(settings.runner.ansible_args, environment) if self._prunes else ""
        if partial:
            why = f"`{partial}` makes runs do a part of what they do"
            _logger.warning("nothing will be pruned", extra=log_fields(why=why))
        watches_reads = any(watch.watch_reads is not None for watch in watches)
        if not settings.proxy.notes_runs and (self._prunes or watches_reads):
            why = "`--run-record=false` leaves nothing to decide from"
            _logger.warning("`prune` and `watchReads` have no effect", extra=log_fields(why=why))
        self._store = InventoryStore(parts.client, settings.webhooks.namespace)
        metrics, deletes = parts.metrics.pruned, parts.dependents.note_own_delete
        self._pruner = Pruner(
            parts.client,
            self._store,
            PrunePorts(
                parts.events,
                metrics,
                deletes,
                self._touched_in_flight,
                partial,
                run_again=parts.run_again,
                is_divided=settings.shards.is_on,
            ),
        )
        self._gives_owner = settings.proxy.inject_owner
        self._reads = ReadInformers(
            parts.client,
            ReadPorts(parts.sink, self._is_own),
            settings=settings.reactor,
            supervisor=parts.supervisor,
        )

    async def run_ended(self, run: EndedRun) -> None:
        if self._gives_owner:
            await self._parts.lost_owners.run_ended(run)
        if self._prunes:
            await self._pruner.run_ended(run)
        await self._reads.run_ended(run)

    async def forget(self, key: Key) -> None:
        """The CR is gone."""
        self._reads.forget(key)
        if self._prunes:
            await self._pruner.forget(key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        """Another replica acted for these CRs, or acts from now on."""
        self._store.forget_of(is_meant)
        self._reads.forget_of(is_meant)

    async def sweep(self) -> None:
        """Remove what is kept for CRs that went while no engine looked; of those that are ours."""
        if not self._prunes:
            return
        try:
            stored = await self._store.keys()
            for kind in self._kinds:
                await self._sweep(kind, [key for key in stored if key.gvk == kind])
        except ClusterError as failure:
            _logger.debug(
                "inventories of deleted objects were kept", extra=log_fields(why=failure.message)
            )

    async def close(self) -> None:
        await self._reads.close()

    async def _sweep(self, kind: Gvk, stored: Sequence[Key]) -> None:
        """Those in namespaces that we look into: others may be another operator's."""
        bounds = self._namespaces
        ours = {key for key in stored if not bounds or key.namespace in ("", *bounds)}
        namespaces = {key.namespace if bounds else "" for key in ours}
        for namespace in sorted(namespaces):
            pages = self._parts.client.pages(kind, namespace, metadata_only=True)
            async for page in pages:
                ours -= {_key_of(kind, item["metadata"]) for item in page.items}
        for key in ours:
            if (hand := self._parts.hand_for(key)) is not None:
                with acting_for(hand):
                    await self._pruner.forget(key)

    def _touched_in_flight(self, key: Key, wanted: ObjectId) -> Key | None:
        others = (
            (other, notes) for other, notes in self._parts.in_flight().items() if other != key
        )
        return next((other for other, notes in others if notes.has_touched(*wanted)), None)

    def _is_own(self, key: Key, change: Change) -> bool:
        notes = self._parts.in_flight().get(key)
        if notes is None:
            return False
        if change.is_gone:
            kind = change.resource
            return notes.has_deleted(kind.gvk.group, kind.plural, change.namespace, change.name)
        return notes.has_seen(change.uid, change.version)


def _key_of(kind: Gvk, metadata: Json) -> Key:
    return Key(kind, str(metadata.get("namespace") or ""), str(metadata["name"]))
