"""Runs the roles of some CRs: each once, or turn after turn until nothing is left to do.

A turn runs roles one after the other: those that were not quiet in the turn before, and all of them
once those are. Roles of one project build on each other: what one removes, another puts back. So only a
turn in which all were quiet is the end.

A run that fails ends the command. An operator would retry; the author of a role needs the failure.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rolecall.clock import Clock, SystemClock
from rolecall.runner import Ending, Runner, RunResult, create_runner
from rolecall.settings import RunnerSettings
from rolecall_dev.cli.role_access import RoleAccess
from rolecall_dev.cli.role_output import RoleRequest, Terminal, left_over, tally

GOALS = ("unchanged", "settled")
_EXIT_CODES = {
    Ending.FINISHED: 1,  # where it did not succeed
    Ending.NOT_STARTED: 2,
    Ending.NO_RECAP: 2,
    Ending.TIMED_OUT: 124,
    Ending.NO_PROGRESS: 124,
    Ending.CANCELLED: 130,
    Ending.KILLED: 137,
}
_TOO_LATE = 124
# Between two turns, so that objects can become ready. We ignore the requeue that a role requested: it
# is meant for an operator, which would get the events of its objects earlier.
_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Goal:
    """When nothing is left to do."""

    is_settled: bool  # no role asks to be run again either
    within_s: float

    def is_reached_by(self, result: RunResult) -> bool:
        """Whether this run had nothing to do."""
        wants_more = self.is_settled and result.requeue_after_s is not None
        return not has_changed(result) and not wants_more


async def run_roles(
    requests: Sequence[RoleRequest],
    settings: RunnerSettings,
    goal: Goal | None,
    output: Terminal,
    access: RoleAccess,
) -> int:
    """Run them; returns the exit code."""
    runner = create_runner(settings)
    try:
        if settings.way == "warm":
            await runner.warm_up([requests[0].terms])
        async with access:
            turns = _Turns(runner, access, output)
            if goal is None:
                return _exit_code(await turns.take(requests))
            return await _until(goal, turns, requests, SystemClock())
    finally:
        await runner.close()


class _Turns:
    def __init__(self, runner: Runner, access: RoleAccess, output: Terminal) -> None:
        self._runner, self._access, self.output = runner, access, output

    async def take(self, requests: Sequence[RoleRequest]) -> list[RunResult]:
        """One turn; ends with the first run that fails."""
        results: list[RunResult] = []
        for request in requests:
            results.append(await self._run(replace(request, run_id=uuid.uuid4().hex[:12])))
            if not results[-1].succeeded:
                break
        return results

    async def _run(self, request: RoleRequest) -> RunResult:
        async with self._access.of(request) as (reached, why_not_owned):
            if why_not_owned:
                self.output.not_owned(why_not_owned)
            result = await (await self._runner.start(reached, self.output.event)).result()
        self.output.ended(request, result)
        return result


async def _until(goal: Goal, turns: _Turns, requests: Sequence[RoleRequest], clock: Clock) -> int:
    deadline = clock.monotonic() + goal.within_s
    taken, runs, changed = 0, 0, 0
    turn = requests
    while True:
        results = await turns.take(turn)
        taken += 1
        runs += len(results)
        changed += sum(has_changed(result) for result in results)
        if code := _exit_code(results):
            return code
        unsettled = [
            request
            for request, result in zip(turn, results, strict=True)
            if not goal.is_reached_by(result)
        ]
        if not unsettled and len(turn) == len(requests):
            turns.output.say(tally(taken, runs, changed))
            return 0
        if unsettled and clock.monotonic() > deadline:
            turns.output.say(left_over(unsettled, goal.within_s))
            return _TOO_LATE
        turn = unsettled or requests
        await clock.sleep(_PAUSE_S)


def has_changed(result: RunResult) -> bool:
    """Whether a task of it said so."""
    return result.recap is not None and result.recap.changed > 0


def _exit_code(results: Sequence[RunResult]) -> int:
    last = results[-1]
    return 0 if last.succeeded else _EXIT_CODES[last.ending]
