"""After each run: restore the lost owner references of the objects that it accessed."""

from __future__ import annotations

from rolecall.extending import EngineView, Extension
from rolecall.extensions.owners.lost_owners import LostOwners
from rolecall.proxy import Owner
from rolecall.reconcile import EndedRun


class OwnersExtension(Extension):
    name = "owners"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        root, note_write = engine.settings.runner.root, engine.dependents.note_own_write
        self._lost = LostOwners(engine.client, root, engine.events, note_write)

    @classmethod
    def begin(cls, engine: EngineView) -> OwnersExtension | None:
        return cls(engine) if engine.settings.proxy.inject_owner else None

    async def run_ended(self, run: EndedRun) -> None:
        await self._lost.run_ended(run)

    async def was_owned(self, owner: Owner, uid: str) -> bool:
        return await self._lost.was_owned(owner, uid)
