"""On whose behalf code runs: which right a write of it needs.

Replicas divide CRs among themselves. Whatever is done for a CR (its turn, each request of its play, an
Event about it) is done under the right to act for that CR, which is checked when it writes;
also when it writes later, and in another task. Without a right of its own, code acts for the replica.

A context variable, since between a turn and the request that it sends lie ten functions that have
nothing to do with it; tasks inherit it. What one part hands to another (a play to the proxy, an Event
to its recorder) carries it along in the open.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class RightToAct(Protocol):
    """Held for a time; once it was lost for good, it never comes back."""

    def holds(self) -> bool:
        """Whether a write that starts now may be made."""
        ...


_acting_for: ContextVar[RightToAct | None] = ContextVar("acting for", default=None)


@contextmanager
def acting_for(hand: RightToAct | None) -> Iterator[None]:
    """Do what is inside by this right; None: for the replica itself."""
    before = _acting_for.set(hand)
    try:
        yield
    finally:
        _acting_for.reset(before)


def current_hand() -> RightToAct | None:
    """The right by which this code acts."""
    return _acting_for.get()
