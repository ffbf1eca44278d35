"""Turns what happens in the cluster into keys in the queue; nothing else goes in or comes out.

Promise: once started, every CR of every watch is reconciled once, and again whenever an event asks
for it (`docs/concepts/triggers.md`). Each watch is heard by a receiver of its own, so one that
cannot be heard takes nothing from the others. No CR is ever written to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from rolecall.clock import Clock, SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.reactor.follow import Follow
from rolecall.reactor.kinds import CRDS, Kinds
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.ports import Onlooker, Sink
from rolecall.reactor.receiver import Hearing, Receiver, Surroundings
from rolecall.settings import ReactorSettings
from rolecall.watches import Watch

_AT_A_TIME = 4


class Reactor:
    """All watches of an operator."""

    def __init__(
        self,
        watches: Sequence[Watch],
        client: Client,
        sink: Sink,
        onlooker: Onlooker,
        *,
        settings: ReactorSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._on_kinds: Callable[[], None] = lambda: None
        self._own_writes = OwnWrites()
        clock = clock or SystemClock()
        settings = settings or ReactorSettings()
        gate = asyncio.Semaphore(_AT_A_TIME)
        surroundings = Surroundings(client, sink, onlooker, settings, clock, self._own_writes, gate)
        self._receivers = [Receiver(watch, surroundings) for watch in watches]
        self._follow_kinds = Follow(
            client,
            CRDS,
            "",
            Kinds(self),
            clock=clock,
            silence_s=settings.silence_s,
        )

    def tell_of_kinds(self, hearer: Callable[[], None]) -> None:
        """Call `hearer` whenever a CRD came, changed or went."""
        self._on_kinds = hearer

    def note_own_write(self, uid: str, version: str, before: str) -> None:
        """The engine brought a CR without generation to this version: the event is no news."""
        self._own_writes.note(uid, version, before)

    @property
    def hearing(self) -> dict[Gvk, Hearing]:
        """How each watch stands."""
        return {receiver.watch.gvk: receiver.state for receiver in self._receivers}

    @property
    def is_synced(self) -> bool:
        """Whether every watch delivered its first list, or waits for a CRD or a right to come."""
        return all(state is not Hearing.STARTING for state in self.hearing.values())

    async def run(self) -> None:
        """Listen until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_kinds.run(), name="follow CRDs")
            for receiver in self._receivers:
                tasks.create_task(receiver.run(), name=f"receive {receiver.watch.gvk}")

    def on_kinds_changed(self, group: str) -> None:
        """Tell the watches of a group to look at their kinds again."""
        self._on_kinds()
        for receiver in self._receivers:
            if receiver.watch.gvk.group == group:
                receiver.kinds_changed()

    def on_kind_removed(self, plural: str, group: str) -> None:
        """Tell the watches of a kind that all its CRs are gone."""
        self._on_kinds()
        for receiver in self._receivers:
            if receiver.is_of(plural, group):
                receiver.kind_removed()

    def on_deaf(self, is_deaf: bool) -> None:
        """Tell all watches whether they will be told of kinds."""
        for receiver in self._receivers:
            receiver.hears_of_kinds = not is_deaf
