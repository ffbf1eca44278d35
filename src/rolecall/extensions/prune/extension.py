"""`prune`: after each run, delete what the CR no longer wants; what is kept of a CR goes with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from rolecall.acting import acting_for
from rolecall.errors import ClusterError
from rolecall.extending import (
    CommandView,
    EngineView,
    Extension,
    Foresee,
    Foreseen,
)
from rolecall.extensions.prune.keys import Prune
from rolecall.extensions.prune.listed_inventories import ListedInventories
from rolecall.extensions.prune.partial_runs import partial_by
from rolecall.extensions.prune.ports import PrunePorts
from rolecall.extensions.prune.preview import PrunePreview
from rolecall.extensions.prune.pruner import Pruner
from rolecall.extensions.prune.store import InventoryStore
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.reconcile import EndedRun
from rolecall.record import ObjectId, RequestsSoFar, RunRecord
from rolecall.workqueue import Key

PRUNED = MetricSpec(
    "rolecall_pruned_objects_total",
    MetricKind.COUNTER,
    ("GVK", "kind", "result"),
    "Objects that were no longer wanted, by kind of the CR and of the object; result: deleted,"
    " released (others own it too), refused (a right is missing), failed.",
)
_logger = logging.getLogger(__name__)


class PruneExtension(Extension):
    name = "prune"
    watch_keys = Prune
    after = ("skip", "owners")  # it may ask for a run that is not skipped
    metrics = (PRUNED,)
    needs = (RunRecord,)

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._partial = partial_by(engine.settings.runner.ansible_args, engine.environment)
        if self._partial:
            why = f"`{self._partial}` makes runs do a part of what they do"
            _logger.warning("nothing will be pruned", extra=log_fields(why=why))
        self._store = self._new_store()
        ports = PrunePorts(
            engine.events,
            self._count,
            engine.dependents.note_own_delete,
            self._touched_in_flight,
            self._partial,
            run_again=engine.run_again,
            is_divided=engine.election.division is not None,
        )
        self._pruner = Pruner(engine.client, self._store, ports)

    @classmethod
    def begin(cls, engine: EngineView) -> PruneExtension | None:
        is_asked_for = any(watch.extension(Prune) is not None for watch in engine.watches)
        return cls(engine) if is_asked_for else None

    async def run_ended(self, run: EndedRun) -> None:
        await self._pruner.run_ended(run)

    async def foresee(self, run: EndedRun) -> Foreseen:
        """With a store of its own for each look: the engine that operates may be another one."""
        return await PrunePreview(self.engine.client, self._new_store, self._partial).of(run)

    @classmethod
    def foresees(cls, command: CommandView) -> Foresee:
        """From the inventories of all operators: where this one lives is not known here."""
        listed = ListedInventories(command.client)
        partial = partial_by(command.settings.runner.ansible_args, command.environment)
        return PrunePreview(command.client, lambda: listed, partial).of

    async def on_gone(self, key: Key) -> None:
        await self._pruner.forget(key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._store.forget_of(is_meant)

    async def sweep(self) -> None:
        try:
            stored = await self._store.keys()
            for kind in {watch.gvk for watch in self.engine.watches}:
                await self._sweep(kind, [key for key in stored if key.gvk == kind])
        except ClusterError as failure:
            _logger.debug(
                "inventories of deleted objects were kept", extra=log_fields(why=failure.message)
            )

    async def _sweep(self, kind: Gvk, stored: Sequence[Key]) -> None:
        """Those in namespaces that we look into: others may be another operator's."""
        bounds = self.engine.settings.reactor.namespaces
        ours = {key for key in stored if not bounds or key.namespace in ("", *bounds)}
        namespaces = {key.namespace if bounds else "" for key in ours}
        for namespace in sorted(namespaces):
            pages = self.engine.client.pages(kind, namespace, metadata_only=True)
            async for page in pages:
                ours -= {_key_of(kind, item["metadata"]) for item in page.items}
        for key in ours:
            if (hand := self.engine.election.hand_for(key)) is not None:
                with acting_for(hand):
                    await self._pruner.forget(key)

    def _new_store(self) -> InventoryStore:
        return InventoryStore(self.engine.client, self.engine.settings.namespace)

    def _count(self, gvk: Gvk, kind: str, result: str) -> None:
        self.engine.metrics.of(PRUNED, GVK=str(gvk), kind=kind, result=result).inc()

    def _touched_in_flight(self, key: Key, wanted: ObjectId) -> Key | None:
        others = (
            (other, asked)
            for other, asked in self.engine.findings_in_flight(RequestsSoFar).items()
            if other != key
        )
        return next((other for other, asked in others if asked.has_touched(*wanted)), None)


def _key_of(kind: Gvk, metadata: Json) -> Key:
    return Key(kind, str(metadata.get("namespace") or ""), str(metadata["name"]))
