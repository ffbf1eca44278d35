"""Filters that decide on an etcd cluster's care: how etcd is started, which file is made smaller."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def etcdcluster_care_arguments(quota: float, compaction: Json) -> list[str]:
    """What etcd is started with; nothing where nothing is asked for."""
    found = [f"--quota-backend-bytes={int(quota)}"] if quota else []
    if compaction:
        found.append(f"--auto-compaction-mode={compaction['mode']}")
        found.append(f"--auto-compaction-retention={compaction['retention']}")
    return found


def etcdcluster_fragmented(
    members: list[Json], status_json: str, above: int, larger_than: float
) -> Json:
    """The member whose file is made smaller now, as `{name, size, unused}`; empty for none.

    A member does not answer while its file is made smaller, so one at a time and only while all
    others can do without it; the leader last, since its silence costs an election.
    """
    if not above or not members:
        return {}
    if not all(each["healthy"] and not each["learner"] for each in members):
        return {}
    sizes = _sizes(status_json)
    for member in sorted(members, key=lambda each: bool(each["leader"])):
        size, used = sizes.get(member["id"], (0, 0))
        if size and size > larger_than and (size - used) * 100 > above * size:
            return {"name": member["name"], "size": size, "unused": size - used}
    return {}


def _sizes(status_json: str) -> dict[str, tuple[int, int]]:
    """File and used part, in bytes, by the member's identity as the command line writes it."""
    rows: list[Json] = json.loads(status_json or "[]") or []
    statuses = [row["Status"] for row in rows]
    return {
        format(int(status["header"]["member_id"]), "x"): (
            int(status.get("dbSize", 0)),
            int(status.get("dbSizeInUse", 0)),
        )
        for status in statuses
    }


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_care_arguments": etcdcluster_care_arguments,
            "etcdcluster_fragmented": etcdcluster_fragmented,
        }
