"""Shards on Leases."""

from __future__ import annotations

from rolecall.clock import Clock
from rolecall.election import Election, LeaseApi
from rolecall.settings import ShardSettings
from rolecall.shards.hand import Hand
from rolecall.shards.ports import ShardPorts
from rolecall.shards.view import ShardsView
from rolecall.workqueue import Key


class ShardedElection(Election):
    """Holds a part of the shards, as many others hold the rest."""

    def __init__(
        self,
        lease_api: LeaseApi,
        settings: ShardSettings,
        *,
        identity_host: str,
        clock: Clock,
        weight: int,
        ports: ShardPorts,
    ) -> None:
        self._lease_api = lease_api
        self._settings = settings
        self._host = identity_host
        self._clock = clock
        self._weight = weight
        self._ports = ports

    def leads_all(self) -> bool:
        """Whether shard 0 is ours: of some work there is only one for all replicas."""
        raise NotImplementedError

    def holds_first(self) -> bool:
        raise NotImplementedError

    def hand_for(self, key: Key) -> Hand | None:
        """The right to begin a turn for a key; None: not ours, or being handed over."""
        raise NotImplementedError

    def is_ours(self, key: Key) -> bool:
        """Held, or being handed over with keys in hand."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Say that we leave and hand over each shard as it becomes empty; returns when none is left."""
        raise NotImplementedError

    def view(self) -> ShardsView:
        raise NotImplementedError
