"""What a reader must know of the replica that shows the page: whether it works, and on which CRs."""

from __future__ import annotations

from rolecall.extending import EnginePorts
from rolecall.extensions.console.division import KeyHolders
from rolecall.workqueue import Key


def notice_of(engine: EnginePorts, key: Key | None = None) -> str:
    """Above a page, or above that of one CR; empty where this replica has all that is shown."""
    if not engine.leads():
        return f"This replica is not active: {who_works(engine)}. What it shows may be outdated."
    if engine.division is None:
        return ""
    holders = KeyHolders(engine.division)
    if key is not None:
        holder = holders.of(key)
        is_own = "" if holder.is_self else f"This object belongs to another shard: {holder}"
        return is_own and f"{is_own}. The runs shown here are from before."
    if holders.held == holders.seen.count:
        return ""
    part = f"{holders.held} of {holders.seen.count} shards"
    return f"This replica has {part}. It does not know the state of the objects in the others."


def part_of(engine: EnginePorts) -> str:
    """Which part of the CRs this replica has; empty: all, or none, as it leads or does not."""
    if engine.division is None:
        return ""
    holders = KeyHolders(engine.division)
    members = len(holders.seen.members)
    replicas = "1 replica" if members == 1 else f"{members} replicas"
    return f"{holders.held} of {holders.seen.count} shards, among {replicas}"


def who_works(engine: EnginePorts) -> str:
    if engine.division is not None:
        return engine.division.look().why_not or "its Lease was not renewed in time"
    return f"{engine.leader() or 'another replica'} is"
