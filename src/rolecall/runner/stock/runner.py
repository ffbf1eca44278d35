"""The stock way: `ansible-playbook` is started anew for each run, as ansible-runner does it.

Always available, and the reference for what a run is. Rejected: asyncio's own subprocesses, whose
output would be read on the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from rolecall.clock import Clock, SystemClock
from rolecall.runner.followed import FollowedRuns
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.memory import Memory
from rolecall.runner.run_task import RunThread
from rolecall.runner.stock.process import SupervisedProcess
from rolecall.settings import RunnerSettings


class StockRunner(FollowedRuns):
    """Runs plays the stock way, each as soon as there is memory for it."""

    def __init__(
        self, settings: RunnerSettings, clock: Clock | None = None, memory: Memory | None = None
    ) -> None:
        clock = clock or SystemClock()
        super().__init__(settings, _Stock(clock), clock, memory)


class _Stock:
    name = "stock"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def why_no_plan(self) -> str:  # it would act
        return "the way `stock` was chosen, or this machine has no warm runs"

    def start(
        self, prepared: PreparedRun, env: Mapping[str, str], _: RunThread
    ) -> AbstractContextManager[SupervisedProcess]:
        return SupervisedProcess(prepared.command, env, prepared.cwd, self._clock)
