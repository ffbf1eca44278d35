"""How replicas divide the keys, where they do: as a Lease names it, and as one replica sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class Division:
    """The holder of the Lease that all replicas know: not one of them, but how they divide the keys."""

    way: str  # the flag that asks for it
    count: str
    watched: str = ""  # a digest of which CRs they watch

    def __str__(self) -> str:
        return f"{self.way}/{self.count}{f'/{self.watched}' if self.watched else ''}"

    @classmethod
    def of(cls, holder: str) -> Division | None:
        """None where a replica holds the Lease, or none does: names of hosts have no slash."""
        way, slash, rest = holder.partition("/")
        if not slash:
            return None
        count, _, watched = rest.partition("/")
        return cls(way, count, watched)


class SeenMember(Protocol):
    """A replica among those that divide the keys."""

    @property
    def host(self) -> str: ...

    @property
    def tenure(self) -> str:
        """Distinguishes it from an earlier one of the same host."""
        ...

    @property
    def weight(self) -> int: ...

    @property
    def parts(self) -> Sequence[int]: ...

    @property
    def runs_per_min(self) -> float: ...

    @property
    def seen_age_s(self) -> float:
        """Since it was seen to renew its Lease."""
        ...

    @property
    def is_leaving(self) -> bool: ...

    @property
    def is_self(self) -> bool: ...

    @property
    def version(self) -> str: ...


class SeenMembers(Protocol):
    """All of them at one moment."""

    @property
    def count(self) -> int:
        """Into how many parts they divide the keys."""
        ...

    @property
    def members(self) -> Sequence[SeenMember]: ...

    @property
    def unheld(self) -> Mapping[int, float]:
        """Parts that no live member has, and for how many seconds."""
        ...

    @property
    def why_not(self) -> str:
        """Why no part of this replica may work; empty: it may."""
        ...


@dataclass(frozen=True, slots=True)
class KeyDivision:
    """What an engine is asked about it."""

    count: int  # of parts
    look: Callable[[], SeenMembers]
    part_of: Callable[[Key], int]
