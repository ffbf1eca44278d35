"""What a CR owns, as values: a tree of objects, each with how it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rolecall.gvk import Gvk

_AGES = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))
_FEW = 12  # children that are open from the start


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """Something that the CR's runs made, or that a controller made below that, as it is now."""

    kind: str
    namespace: str
    name: str
    health: str  # a word or two; empty: not known
    is_well: bool | None
    task: str = ""  # that asked for it last; of what lies below empty
    is_gone: bool = False
    why: str = ""  # it does not do well
    created: str = ""
    gvk: Gvk | None = None  # None: it is gone
    why_not: str = ""  # why the newest good run did not ask for it
    is_orphan: bool = False
    run: str = ""  # that asked for it last
    pruning: str = ""  # what that did about an orphan
    below: Sequence[OwnedObject] = ()
    left_out: Sequence[str] = ()  # of what is below, a sentence each

    @property
    def is_open(self) -> bool:
        """Whether what lies below is shown from the start: it is short, or something is wrong there."""
        return len(self.below) <= _FEW or any(each.is_well is False for each in self.below)

    @property
    def colour(self) -> str:
        if self.is_well is None:
            return "other"
        return "good" if self.is_well else "bad"

    def with_below(self, below: Sequence[OwnedObject], left_out: Sequence[str]) -> OwnedObject:
        return replace(self, below=below, left_out=left_out)


@dataclass(frozen=True, slots=True)
class OwnedTree:
    objects: Sequence[OwnedObject] = ()
    hidden: Sequence[str] = ()  # what is not shown and why, a sentence each
    unseen: int = 0  # objects that were not looked at, because there are so many
    pruning: Sequence[str] = ()  # what pruning says of all orphans


def worst_first(objects: Sequence[OwnedObject]) -> list[OwnedObject]:
    """What does not do well, then orphans, then the rest by kind and name."""
    return sorted(
        objects,
        key=lambda each: (each.is_well is not False, not each.is_orphan, each.kind, each.name),
    )


def age(created: str, now: datetime | None) -> str:
    """`3 d`; empty where one of them is not known."""
    try:
        seconds = (now - datetime.fromisoformat(created)).total_seconds() if now else -1.0
    except (ValueError, TypeError, OverflowError):
        return ""
    if seconds < 0:
        return ""
    length, unit = next((each for each in _AGES if seconds >= each[0]), (1.0, "s"))
    return f"{int(seconds / length)} {unit}"
