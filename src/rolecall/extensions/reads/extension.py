"""`watchReads`: after each run, follow what it read."""

from __future__ import annotations

from collections.abc import Callable

from rolecall.extending import EngineView, Extension
from rolecall.extensions.reads.keys import WatchReads
from rolecall.extensions.reads.read_informers import ReadInformers
from rolecall.extensions.reads.read_objects import Change, ReadPorts
from rolecall.reconcile import EndedRun
from rolecall.record import RequestsSoFar, RunRecord
from rolecall.workqueue import Key


class ReadsExtension(Extension):
    name = "reads"
    watch_keys = WatchReads
    needs = (RunRecord,)
    after = ("prune",)

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._reads = ReadInformers(
            engine.client,
            ReadPorts(engine.keys, self._is_own),
            settings=engine.settings.reactor,
            supervisor=engine.supervisor,
        )

    @classmethod
    def begin(cls, engine: EngineView) -> ReadsExtension | None:
        is_asked_for = any(watch.extension(WatchReads) is not None for watch in engine.watches)
        return cls(engine) if is_asked_for else None

    async def run_ended(self, run: EndedRun) -> None:
        await self._reads.run_ended(run)

    async def on_gone(self, key: Key) -> None:
        self._reads.forget(key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._reads.forget_of(is_meant)

    async def stop(self) -> None:
        await self._reads.close()

    def _is_own(self, key: Key, change: Change) -> bool:
        asked = self.engine.findings_in_flight(RequestsSoFar).get(key)
        if asked is None:
            return False
        if change.is_gone:
            kind = change.resource
            return asked.has_deleted(kind.gvk.group, kind.plural, change.namespace, change.name)
        return asked.has_seen(change.uid, change.version)
