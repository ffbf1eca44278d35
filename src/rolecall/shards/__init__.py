"""Divides keys among replicas, by Leases and nothing else; each shard has at most one holder."""

from rolecall.shards.election import ShardedElection
from rolecall.shards.hand import Hand
from rolecall.shards.key_hash import shard_of
from rolecall.shards.lease_calls import ShardLeaseApi
from rolecall.shards.ports import ShardPorts
from rolecall.shards.view import MemberView, ShardsView

__all__ = [
    "Hand",
    "MemberView",
    "ShardLeaseApi",
    "ShardPorts",
    "ShardedElection",
    "ShardsView",
    "shard_of",
]
