"""Turns what happens to CRs into keys in the queue.

Promise: once started, every CR that a watch selects is reconciled once, and again whenever an event
asks for it (`docs/concepts/triggers.md`). Each watch stands alone, so one that cannot be followed takes
nothing from the others, and one that meets a bug begins anew. No CR is ever written to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.reactor.cr_memo import CrMemo
from rolecall.reactor.cr_watch import CrWatch
from rolecall.reactor.informer import Informer
from rolecall.reactor.known_crds import CRDS, KnownCrds
from rolecall.reactor.known_crs import KnownCrs, SyncState
from rolecall.reactor.newest_crs import NewestCrs
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.ports import CrMetrics, Sink
from rolecall.settings import ReactorSettings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch


class Reactor:
    """All watches of an operator."""

    def __init__(  # noqa: PLR0913 - what a reactor needs, by name
        self,
        watches: Sequence[Watch],
        client: Client,
        sink: Sink,
        metrics: CrMetrics,
        *,
        newest: NewestCrs | None = None,
        own_writes: OwnWrites | None = None,
        on_kinds_change: Sequence[Callable[[], None]] = (),
        settings: ReactorSettings | None = None,
        supervisor: Supervisor | None = None,
        retake_signals: Callable[[], None] | None = None,
    ) -> None:
        """`own_writes`: versions to which the engine brought CRs without generation, which are no news.

        `on_kinds_change`: called whenever a CRD came, changed or went.
        `retake_signals`: kopf takes SIGINT and SIGTERM; None gives them back to Python.
        """
        self._on_kinds_change = on_kinds_change
        newest = NewestCrs() if newest is None else newest  # an empty one is false
        own_writes = own_writes or OwnWrites()
        self.keep_brought = newest.keep_only  # of the objects that events brought
        self._supervisor = supervisor = supervisor or Supervisor(SystemClock())
        settings = settings or ReactorSettings()
        self._watches = [
            CrWatch(
                watch,
                client,
                partial(KnownCrs, watch, sink, metrics, own_writes, newest),
                settings,
                supervisor,
                retake_signals,
            )
            for watch in watches
        ]
        self._crds = Informer(
            client,
            CRDS,
            "",
            KnownCrds(self.on_crd_change, self.on_crd_removed),
            clock=supervisor.clock,
            silence_s=settings.silence_s,
        )

    @property
    def states(self) -> dict[Gvk, SyncState]:
        """How each watch stands."""
        return {each.watch.gvk: each.state for each in self._watches}

    @property
    def is_synced(self) -> bool:
        """Whether every watch delivered its first list, or waits for a CRD or a right to come."""
        return all(state is not SyncState.STARTING for state in self.states.values())

    @property
    def plurals(self) -> dict[Gvk, str]:
        return {each.watch.gvk: each.plural for each in self._watches}

    def known(self) -> dict[Gvk, dict[tuple[str, str], CrMemo]]:
        """Each CR of each watch, with what is known of it."""
        return {each.watch.gvk: each.known() for each in self._watches}

    async def run(self) -> None:
        """Follow until cancelled."""
        parts = {each.name: each.run for each in self._watches}
        async with asyncio.TaskGroup() as tasks:
            for name, run in {"watch CRDs": self._crds.run, **parts}.items():
                tasks.create_task(self._supervisor.keep(name, run), name=name)

    def on_crd_change(self, group: str) -> None:
        """A CRD of this group came, changed or went."""
        self._notify_of_kinds()
        for each in self._watches:
            if each.watch.gvk.group == group:
                each.on_kind_changed()

    def _notify_of_kinds(self) -> None:
        for notify in self._on_kinds_change:
            notify()

    def on_crd_removed(self, plural: str, group: str) -> None:
        """A CRD is gone, and with it all CRs of its kind."""
        self._notify_of_kinds()
        for each in self._watches:
            if each.watch.gvk.group == group:
                each.on_kind_removed(plural)
