"""Chooses the way in which a run is started: what its watch says, else what `--runner` says.

The warm way needs Linux and rolecall-warm. Elsewhere every run is a stock run, which the log says once.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rolecall.clock import SystemClock
from rolecall.errors import RolecallError
from rolecall.log_fields import log_fields
from rolecall.runner.contract import (
    OnEvent,
    OnWarmSupport,
    PlayTerms,
    RunHandle,
    RunRequest,
    RunResult,
)
from rolecall.runner.installed import why_no_warm_host
from rolecall.runner.memory import Memory
from rolecall.runner.run_file import keep_unrecorded
from rolecall.runner.run_task import in_thread
from rolecall.runner.stock import StockRunner
from rolecall.runner.temporary import remove_abandoned
from rolecall.settings import STOCK_RUN_BYTES, WARM_RUN_BYTES, RunnerSettings

if TYPE_CHECKING:
    from rolecall.runner.warm import WarmRunner

_logger = logging.getLogger(__name__)


class ChosenRunner:
    """Hands each request to the runner of its way; the warm one is made when wanted."""

    def __init__(self, settings: RunnerSettings, on_support: OnWarmSupport | None = None) -> None:
        self._settings = settings
        self._on_support = on_support
        self._memory = Memory(settings.memory_bytes)
        # Called, on the loop, whenever runs of a kind begin to go another way than before.
        self.on_way_change: Callable[[], None] = lambda: None
        self._stock = StockRunner(settings, memory=self._memory)
        self._warm: WarmRunner | None = None
        self._has_reported = False
        if settings.way == "warm":
            self._warm_runner()  # its imports would hold up the loop at the first run

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        runner = self._warm_runner_for(request.terms) or self._stock
        return _KeptHandle(await runner.start(request, on_event), self._keep_unrecorded(request))

    async def warm_up(self, plays: Sequence[PlayTerms]) -> None:
        """Get ready for the first run, where a run would otherwise have to wait."""
        temporary = self._settings.environment.get("TMPDIR")
        if removed := remove_abandoned({temporary or "", tempfile.gettempdir()} - {""}):
            _logger.info(
                "removed files of an engine that was killed", extra=log_fields(folders=len(removed))
            )
        if self._settings.warm_idle_s is not None:
            return
        for terms in plays:
            if warm := self._warm_runner_for(terms):
                await warm.warm_up(terms)
                return

    def bytes_of(self, terms: PlayTerms) -> int:
        """The memory that a run on these terms would take if it began now."""
        warm = self._warm_runner_for(terms)
        is_warm = warm is not None and warm.way_of(terms.gvk) == "warm"
        return WARM_RUN_BYTES if is_warm else STOCK_RUN_BYTES

    async def close(self) -> None:
        if self._warm is not None:
            await self._warm.close()
        await self._stock.close()

    def _keep_unrecorded(self, request: RunRequest) -> Callable[[RunResult], None]:
        return lambda result: keep_unrecorded(request, result, self._settings, SystemClock().now())

    def _warm_runner_for(self, terms: PlayTerms) -> WarmRunner | None:
        way = terms.way or self._settings.way
        return self._warm_runner() if way == "warm" else None

    def _warm_runner(self) -> WarmRunner | None:
        if self._warm is not None:
            return self._warm
        if not (reason := why_no_warm_host()):
            from rolecall.runner.warm import WarmRunner  # noqa: PLC0415 - where it can work

            self._warm = WarmRunner(
                self._settings, self._stock, on_support=self._on_support, memory=self._memory
            )
            self._warm.on_way_change = lambda: self.on_way_change()  # noqa: PLW0108 - set later
        elif not self._has_reported:
            self._has_reported = True
            _logger.info("every run starts ansible-playbook anew", extra=log_fields(reason=reason))
        return self._warm


class _KeptHandle:
    """A run that also reports its end where it was not recorded."""

    def __init__(self, handle: RunHandle, keep: Callable[[RunResult], None]) -> None:
        self._handle = handle
        self._keep = keep

    async def result(self) -> RunResult:
        return await self._kept(await self._handle.result())

    async def result_before_tidying(self) -> RunResult:
        return await self._kept(await self._handle.result_before_tidying())

    async def _kept(self, result: RunResult) -> RunResult:
        if result.artifacts is None:
            with contextlib.suppress(
                RuntimeError, MemoryError, RolecallError
            ):  # no thread, no folder
                await in_thread(lambda: self._keep(result))
        return result

    def cancel(self, reason: str) -> None:
        self._handle.cancel(reason)

    def freeze(self) -> None:
        self._handle.freeze()


def create_runner(
    settings: RunnerSettings, on_support: OnWarmSupport | None = None
) -> ChosenRunner:
    """The runner of an engine with these settings.

    `on_support` learns whether runs are warm. Without it, an unknown ansible-core is not proven: too
    long for a command that runs one role.
    """
    return ChosenRunner(settings, on_support)
