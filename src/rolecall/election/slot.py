"""The slot of the election: which replica works, on which keys, and who does what there is one of.

Three implementations: none (`Election` itself), one leader (`LeaseElection`), and what an extension
offers, such as a division of the keys among replicas. All of them are asked by the fence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from rolecall.acting import RightToAct
from rolecall.election.division import KeyDivision
from rolecall.gvk import Gvk
from rolecall.workqueue import Cause, Key, Queue, Urgency

IsMeant = Callable[[Key], bool]


class SelectedCr(Protocol):
    @property
    def is_selected(self) -> bool:
        """Whether its watch wants it."""
        ...


class Runs(Protocol):
    """The runs in flight."""

    def interrupt_runs(self, reason: str) -> None:
        """End all, because this replica may not write now; it may again later."""

    def end_runs_of(self, is_meant: IsMeant, reason: str) -> None:
        """End those of keys that are handed over; status reports it."""

    def lose_runs_of(self, is_lost: IsMeant, reason: str) -> int:
        """Stop those of keys that are another's from now on, then end them; returns how many."""
        ...


class RemembersKeys(Protocol):
    """A part of the engine that keeps or remembers something of CRs."""

    def forget_of(self, is_meant: IsMeant) -> None:
        """Another replica acted for them, or acts from now on."""


class KeptParts(Protocol):
    """What is kept of CRs in parts, and written now and then."""

    def has_unwritten(self, part: int) -> bool: ...

    async def write_parts(self, parts: Collection[int]) -> None: ...

    def forget_parts(self, parts: Collection[int]) -> None:
        """Another replica had them, or has them now."""


@dataclass(frozen=True, slots=True)
class EngineWork:
    """The parts of the engine whose work an election begins and ends."""

    queue: Queue
    runs: Runs
    known: Callable[[], Mapping[Gvk, Mapping[tuple[str, str], SelectedCr]]]  # a copy
    kept: KeptParts
    remembering: tuple[RemembersKeys, ...]
    on_leading_change: Callable[[], None]
    posting_for: Callable[[], RightToAct | None]  # by which right an Event is being posted now
    keep_brought: Callable[[IsMeant], None]  # of the objects that events brought, only those


class Election:
    """Without a Lease, as here, this process is the only replica: it leads and owns all keys."""

    async def run(self, work: EngineWork) -> None:  # noqa: ARG002 - for those that override it
        """Campaign and hold until cancelled; raises `LeadershipLostError`."""
        await asyncio.Event().wait()

    async def wait_leading(self) -> None:
        """Wait until this process works; it may have worked before, and paused."""

    def may_write(self) -> bool:
        """Whether a write that starts now is this process's to make."""
        return True

    def holds(self) -> bool:
        """One replica has all keys: the right to act for each of them."""
        return self.may_write()

    def hand_for(self, _key: Key) -> RightToAct | None:
        """The right to begin a turn for a key; None: not ours, or being handed over."""
        return self

    def leads(self) -> bool:
        """Whether this replica does that of which there is one for all replicas."""
        return self.may_write()

    async def while_leading(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do what there is one of, again whenever it comes to this replica; never returns."""
        await self.wait_leading()
        await work()
        await asyncio.Event().wait()

    def leave_to_others(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        """Something happened to a CR that is not ours."""

    def put_down(self, key: Key) -> None:
        """No turn has this key in hand any more."""

    async def leave(self) -> None:
        """Hand over what is not in work here any more; returns when nothing is left."""

    @property
    def leader(self) -> str:
        """Who leads, as far as is known here."""
        return ""

    @property
    def division(self) -> KeyDivision | None:
        """How replicas divide the keys; None: one has them all."""
        return None

    async def release(self) -> None:
        """Let the next one lead at once; call it when nothing is written any more."""
