"""Chooses the way in which a run is started: what its watch says, else what `--runner` says.

The warm way needs Linux. Elsewhere every run is a stock run, which the log says once, not per run.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rolecall.runner.contract import OnEvent, RunHandle, Runner, RunRequest
from rolecall.runner.stock import StockRunner
from rolecall.runner.temporary import remove_abandoned
from rolecall.settings import RunnerSettings
from rolecall.watches import Watch

_LOG = logging.getLogger(__name__)


@runtime_checkable
class WarmUp(Protocol):
    """A way that has something to get ready."""

    async def warm_up(self, watch: Watch) -> None:
        """Get ready for runs of this watch."""
        ...


class ChosenRunner:
    """Hands each request to the runner of its way; the warm one is made when wanted."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._stock: Runner = StockRunner(settings)
        self._warm: Runner | None = None
        if settings.way == "warm":
            self._warm_runner()  # its imports would hold up the loop at the first run

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        """Start a run the way that its watch, or the engine's settings, name."""
        return await self._runner_for(request.watch).start(request, on_event)

    async def warm_up(self, watches: Sequence[Watch]) -> None:
        """Get ready for the first run, where a run would otherwise have to wait."""
        temporary = self._settings.environment.get("TMPDIR")
        if removed := remove_abandoned({temporary or "", tempfile.gettempdir()} - {""}):
            _LOG.info("removed what a killed engine left", extra={"folders": len(removed)})
        for watch in watches:
            runner = self._runner_for(watch)
            if isinstance(runner, WarmUp) and self._settings.warm_idle_s is None:
                await runner.warm_up(watch)
                return

    async def close(self) -> None:
        """End what runs, whichever way it was started."""
        for runner in (self._warm, self._stock):
            if runner is not None:
                await runner.close()

    def _runner_for(self, watch: Watch) -> Runner:
        way = watch.runner or self._settings.way
        return self._warm_runner() if way == "warm" else self._stock

    def _warm_runner(self) -> Runner:
        if self._warm is None:
            self._warm = self._stock
            if sys.platform.startswith("linux"):
                from rolecall.runner.warm import WarmRunner  # noqa: PLC0415 - where it can work

                self._warm = WarmRunner(self._settings, self._stock)
            else:
                _LOG.info("runs start the stock way: the warm way needs linux")
        return self._warm


def create_runner(settings: RunnerSettings) -> ChosenRunner:
    """The runner of an engine with these settings."""
    return ChosenRunner(settings)
