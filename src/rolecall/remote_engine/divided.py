"""Which replica has which shard, by the Leases of an operator, seen from outside.

For choosing a pod to ask, and no more: who may act is for the replicas to know. A shard Lease names its
holder until another replica takes it, so a holder counts only while its member Lease names it too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rolecall.json_object import Json, as_map

_LABEL = "rolecall.dev/shards-of"
_MODE = "shards/"  # and their number: the holder of the Lease that all replicas know
_MEMBER, _SHARD = "-member-", "-shard-"


@dataclass(frozen=True, slots=True)
class DividedCrs:
    """How replicas divide the CRs."""

    count: int
    holders: Mapping[int, str]  # the hosts of those that live, by shard
    hosts: frozenset[str]  # of all replicas

    def shards_of(self, host: str) -> int:
        return sum(each == host for each in self.holders.values())


def divided_crs(leases: Sequence[Json], hosts: Collection[str]) -> DividedCrs | None:
    """Those of the operator to which these hosts belong; None: it does not divide its CRs."""
    modes = {_name(each): _count(each) for each in leases if _is_mode(each)}
    for lease_id, count in modes.items():
        own = [each for each in leases if is_of_shards(each)]
        members = {
            _holder(each) for each in own if _name(each).startswith(f"{lease_id}{_MEMBER}")
        } - {""}
        found = frozenset(_host(each) for each in members)
        if count.isdecimal() and found & set(hosts):
            return DividedCrs(int(count), _holders(own, lease_id, members), found)
    return None


def _holders(own: Sequence[Json], lease_id: str, members: Collection[str]) -> dict[int, str]:
    prefix = f"{lease_id}{_SHARD}"
    return {
        int(number): _host(_holder(each))
        for each in own
        if _holder(each) in members
        and (number := _name(each).removeprefix(prefix)) != _name(each)
        and number.isdecimal()
    }


def _count(mode: Json) -> str:
    """The number of shards; a digest of what is watched may follow."""
    return _holder(mode).removeprefix(_MODE).partition("/")[0]


def _is_mode(lease: Json) -> bool:
    return not is_of_shards(lease) and _holder(lease).startswith(_MODE)


def is_of_shards(lease: Json) -> bool:
    """Whether it is one of a shard or a member."""
    return _LABEL in as_map(as_map(lease.get("metadata")).get("labels"))


def _name(lease: Json) -> str:
    return str(as_map(lease.get("metadata")).get("name") or "")


def _holder(lease: Json) -> str:
    return str(as_map(lease.get("spec")).get("holderIdentity") or "")


def _host(holder: str) -> str:
    return holder.rpartition("_")[0]
