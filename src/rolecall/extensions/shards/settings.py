"""Into how many parts replicas divide the keys, and how a part changes hands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from rolecall.extensions.shards.flags import ShardFlags
from rolecall.settings import ElectionSettings, Settings


@dataclass(frozen=True, slots=True)
class ShardSettings:
    count: int = 0
    # Names and times of the Leases; never on by itself, since shards do what it does, for each part.
    election: ElectionSettings = field(default_factory=ElectionSettings)
    # A shard that is handed over waits so long for its runs, then ends them.
    patience_s: float = 30.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        count = settings.extension(ShardFlags).count
        return cls(count, settings.election, settings.graceful_shutdown_s)
