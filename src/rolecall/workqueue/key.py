"""A key says who to reconcile, an urgency says how soon; neither carries state."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum

from rolecall.gvk import Gvk


@dataclass(frozen=True, order=True, slots=True)
class Key:
    """One CR: the kind of its watch, its namespace (empty for cluster-scoped kinds) and name."""

    gvk: Gvk
    namespace: str
    name: str

    def __hash__(self) -> int:
        """Without the kind, of which there are few: tens of thousands are looked up at a time."""
        return hash((self.namespace, self.name))

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.gvk.kind} {place}"


def part_of(key: Key, count: int) -> int:
    """Which of so many parts a key belongs to: the same in each replica, each release, each Python.

    The version of its kind says nothing of which CR it is.
    """
    named = "\0".join((key.gvk.group, key.gvk.kind, key.namespace, key.name))
    digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count


class Urgency(IntEnum):
    """Why a key waits; the lower, the sooner. Ageing keeps the last from starving."""

    EDIT = 0  # a user created, edited or deleted the CR; or it must be read again at once
    DEPENDENT = 1  # an object that a play made changed or went away
    RETRY = 2  # the last turn failed
    PERIOD = 3  # the period passed, or a role asked with `requeue_after`
    STARTUP = 4  # the engine started and looks at everything once
