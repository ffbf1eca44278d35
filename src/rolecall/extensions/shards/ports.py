"""What the engine does for its shards; `Sharing` is the real one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Shards = frozenset[int]


@dataclass(frozen=True, slots=True)
class ShardPorts:
    """Callbacks into the rest of the engine: notifications and queries."""

    on_gained: Callable[[Shards], None]  # their keys are ours from now on
    on_leaving: Callable[[Shards], None]  # no new turn begins for their keys; runs may end
    on_lost: Callable[[Shards, str], None]  # freeze and end runs, drop keys; and why
    busy: Callable[[int], bool]  # whether a key of this shard is in hand
    runs_per_minute: Callable[[], float]
