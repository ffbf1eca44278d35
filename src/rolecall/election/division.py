"""The holder of the Lease where replicas divide the CRs: not one of them, but how they divide."""

from __future__ import annotations

from dataclasses import dataclass

_PREFIX = "shards/"


@dataclass(frozen=True, slots=True)
class Division:
    """How replicas divide the CRs, as the Lease that all of them know says it."""

    count: str
    watched: str = ""  # a digest of which CRs they watch

    def __str__(self) -> str:
        return f"{_PREFIX}{self.count}{f'/{self.watched}' if self.watched else ''}"

    @classmethod
    def of(cls, holder: str) -> Division | None:
        """None where a replica holds the Lease, or none does."""
        if not holder.startswith(_PREFIX):
            return None
        count, _, watched = holder.removeprefix(_PREFIX).partition("/")
        return cls(count, watched)
