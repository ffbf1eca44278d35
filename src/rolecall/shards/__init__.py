"""Divides keys among replicas, by Leases and nothing else; each shard has at most one holder."""

from rolecall.shards.election import ShardedElection
from rolecall.shards.first_work import FirstWork
from rolecall.shards.hand import Hand
from rolecall.shards.lease_calls import ShardLeaseApi
from rolecall.shards.ports import ShardPorts
from rolecall.shards.report import ShardReport
from rolecall.shards.shared_keys import SharedKeys
from rolecall.shards.sharing import (
    ElectionRights,
    Sharing,
    SharingParts,
    digest_of_watched,
    division_of,
)
from rolecall.shards.view import MemberView, ShardsView

__all__ = [
    "ElectionRights",
    "FirstWork",
    "Hand",
    "MemberView",
    "ShardLeaseApi",
    "ShardPorts",
    "ShardReport",
    "ShardedElection",
    "ShardsView",
    "SharedKeys",
    "Sharing",
    "SharingParts",
    "digest_of_watched",
    "division_of",
]
