"""The election that divides the keys: the engine works on those whose shards it holds."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

from rolecall.election import Election, EngineWork, KeyDivision
from rolecall.extending import ElectionView
from rolecall.extensions.shards.figures import ShardCounts
from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.holder import ShardHolder
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.sharing import Sharing
from rolecall.extensions.shards.watched import digest_of_watched
from rolecall.workqueue import Cause, Key, Urgency, part_of


class ShardsElection(Election):
    """Joins who has what (`ShardHolder`) and what follows from it in the engine (`Sharing`)."""

    def __init__(self, engine: ElectionView) -> None:
        settings = ShardSettings.of(engine.settings)
        self._settings = settings
        self.counts = ShardCounts(engine.metrics)
        self.sharing = Sharing(settings, engine.supervisor, self.counts)
        self._holder = ShardHolder(
            engine.client,
            settings,
            identity_host=socket.gethostname(),
            clock=engine.clock,
            weight=engine.weight,
            ports=self.sharing.ports,
            watched=digest_of_watched(engine.watches, engine.settings.reactor.namespaces),
        )
        self.view = self._holder.view

    async def run(self, work: EngineWork) -> None:
        self.sharing.connect(work, self._holder)
        await self._holder.run()

    async def wait_leading(self) -> None:
        await self._holder.wait_leading()

    def may_write(self) -> bool:
        return self._holder.may_write()

    def hand_for(self, key: Key) -> Hand | None:
        return self._holder.hand_for(key)

    def leads(self) -> bool:
        return self._holder.leads()

    async def while_leading(self, work: Callable[[], Awaitable[None]]) -> None:
        await self.sharing.singletons.run(work)

    def leave_to_others(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        self.sharing.leave_to_others(key, urgency, cause)

    def put_down(self, key: Key) -> None:
        self.sharing.put_down(key)

    async def leave(self) -> None:
        await self._holder.leave()

    @property
    def leader(self) -> str:
        return self._holder.leader

    @property
    def division(self) -> KeyDivision:
        count = self._settings.count
        return KeyDivision(count, self.view, lambda key: part_of(key, count))

    async def release(self) -> None:
        await self.sharing.close()
        await self._holder.release()
