"""Filters that decide on an etcd cluster's care: which file is made smaller."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
_FULL = "alarm:NOSPACE"
_ROOM = 0.9  # of the quota: with less room the next writes would raise the alarm again
_MI = 1024**2


def etcdcluster_space(status_json: str, quota: float) -> Json:
    """Whether the database is full and etcd refuses writes, as `{full, roomy, size, quota, limit}`.

    `roomy` tells whether each file is below the quota again, so that the alarm can be put out; below
    `limit` bytes it is.
    """
    statuses = _statuses(status_json)
    errors = [str(error) for each in statuses for error in each.get("errors") or []]
    quotas = [int(each.get("dbSizeQuota") or quota) for each in statuses]
    size = max((int(each.get("dbSize", 0)) for each in statuses), default=0)
    limit = min(quotas, default=0)
    return {
        "full": any(_FULL in error for error in errors),
        "roomy": size < limit * _ROOM,
        "size": f"{round(size / _MI)}Mi",
        "quota": f"{round(limit / _MI)}Mi",
        "limit": limit * _ROOM,
    }


def etcdcluster_fragmented(
    members: list[Json], status_json: str, above: int, larger_than: float, space: Json
) -> Json:
    """The member whose file is made smaller now, as `{name, size, unused, successor}`; empty for none.

    `successor` is who leads from now on, where the member is the leader.

    A member does not answer while its file is made smaller, so one at a time and only while all
    others can do without it; the leader last, since its silence costs an election. While the
    database is full, it is done wherever it makes room for writes.
    """
    if not above or not members:
        return {}
    if not all(each["healthy"] and not each["learner"] for each in members):
        return {}
    sizes = _sizes(status_json)
    for member in sorted(members, key=lambda each: bool(each["leader"])):
        size, used = sizes.get(member["id"], (0, 0))
        is_worth_it = size > larger_than and (size - used) * 100 > above * size
        makes_room = space["full"] and used < space["limit"] <= size
        if size and (is_worth_it or makes_room):
            others = [each["id"] for each in members if each is not member]
            successor = others[0] if member["leader"] and others else ""
            found = {"name": member["name"], "size": size, "unused": size - used}
            return found | {"successor": successor}
    return {}


def _sizes(status_json: str) -> dict[str, tuple[int, int]]:
    """File and used part, in bytes, by the member's identity as the command line writes it."""
    return {
        format(int(status["header"]["member_id"]), "x"): (
            int(status.get("dbSize", 0)),
            int(status.get("dbSizeInUse", 0)),
        )
        for status in _statuses(status_json)
    }


def _statuses(status_json: str) -> list[Json]:
    rows: list[Json] = json.loads(status_json or "[]") or []
    return [row["Status"] for row in rows]


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_fragmented": etcdcluster_fragmented,
            "etcdcluster_space": etcdcluster_space,
        }
