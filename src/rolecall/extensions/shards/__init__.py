"""Divides keys among replicas, by Leases and nothing else; each shard has at most one holder."""

from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.holder import ShardHolder
from rolecall.extensions.shards.lease_calls import ShardLeaseApi
from rolecall.extensions.shards.ports import ShardPorts
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.view import MemberView, ShardsView

__all__ = [
    "Hand",
    "MemberView",
    "ShardHolder",
    "ShardLeaseApi",
    "ShardPorts",
    "ShardSettings",
    "ShardsView",
]
