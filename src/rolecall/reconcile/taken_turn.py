"""A turn that an extension takes: it does something else than run the play of the CR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rolecall.json_object import Json
from rolecall.reconcile.active_runs import ActiveRun
from rolecall.reconcile.ports import Telemetry, TurnView
from rolecall.reconcile.reporter import Reporter
from rolecall.runner import RunHandle
from rolecall.status import StatusChange, conditions_of


class ActiveTurn:
    """The `TakenTurn` of a key in hand."""

    def __init__(
        self, active: ActiveRun, view: TurnView, reporter: Reporter, telemetry: Telemetry
    ) -> None:
        self._active, self._view = active, view
        self._reporter, self._telemetry = reporter, telemetry

    @property
    def cancelled(self) -> str:
        return self._active.cancelled

    @property
    def is_stopped(self) -> bool:
        return self._active.is_stopped

    @contextmanager
    def running(self) -> Iterator[Callable[[RunHandle], None]]:
        def on_start(handle: RunHandle) -> None:
            self._active.handle = handle
            if self._active.cancelled:
                self._active.cancel(self._active.cancelled)

        try:
            yield on_start
        finally:
            self._active.handle = None

    async def write(self, change: StatusChange) -> Json:
        written = await self._reporter.changed(self._view.watch, self._view.cr, change)
        self._telemetry.conditions(self._active.key, conditions_of(written))
        return written
