"""Calls the extensions of an engine.

Promise: what an extension raises costs no run. It is logged with its traceback and the extension's
name, counted like a part of the engine that began anew, and the other extensions are called.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.extending.ended_turns import EndedTurns
from rolecall.extending.engine_ports import Act
from rolecall.extending.extension import (
    BackgroundPart,
    EndedTurn,
    Endpoints,
    EngineView,
    Extension,
    GiveVerdict,
)
from rolecall.extending.foreseen import CommandView, Foreseen, foreseen_by
from rolecall.extending.last_runs import LastRuns
from rolecall.extending.run_followers import FollowerOf, RunFollowers
from rolecall.log_fields import log_fields
from rolecall.proxy import FollowRun, Owner, RunFollower
from rolecall.reconcile import BegunRun, EndedRun, Outcome, TakenTurn, TurnView
from rolecall.runner import in_thread
from rolecall.status import ConditionEdit
from rolecall.webhooks import Webhook
from rolecall.workqueue import Key, Turn

# What the last turns' figures may take when the engine stops.
CLOSING_S = 5.0

_logger = logging.getLogger(__name__)


class Extensions:
    def __init__(
        self,
        classes: Sequence[type[Extension]],
        clock: Clock,
        on_fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_fault` is called with the name of what failed, maybe in a thread."""
        self._classes = classes
        self._on_fault = on_fault
        self._ended_turns = EndedTurns(clock, self._notify_of)
        self._last_runs: LastRuns | None = None
        self._loaded: list[Extension] = []

    def begin(self, engine: EngineView) -> None:
        """Begin those that the settings ask for; call it before the first step."""
        self._last_runs = engine.last_runs
        begun = (each.begin(engine) for each in self._classes)
        self._loaded = [each for each in begun if each is not None]
        self._warn_of_needs()
        self._wanting_turns = self._overriding("turns_ended")
        self._following_runs = self._overriding("run_ended")
        self._followers = self._overriding("follow")
        self._taking = self._overriding("instead_of_run")
        self._editing = self._overriding("condition_edit")
        self._skipping = self._overriding("why_no_run")
        self._following_acts = self._overriding("acted")
        self._acting = self._overriding("acts")

    @asynccontextmanager
    async def opened(self, endpoints: Endpoints) -> AsyncIterator[None]:
        """Have the listeners of all extensions open; raises what any of them raises."""
        async with AsyncExitStack() as stack:
            for each in self._loaded:
                await stack.enter_async_context(each.open(endpoints))
            yield

    def parts(self) -> dict[str, BackgroundPart]:
        """What runs as long as the engine does; each is to be supervised by itself."""
        parts: dict[str, BackgroundPart] = (
            {"ended turns": self._ended_turns.run} if self._wanting_turns else {}
        )
        for each in self._loaded:
            with self._costing_nothing(each):
                parts |= {f"{each.name}: {part}": run for part, run in each.parts().items()}
        return parts

    def on_leading_change(self) -> None:
        self._notify(lambda each: each.on_leading_change())

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:
        for each in self._taking:
            if (outcome := await each.instead_of_run(turn, taken)) is not None:
                return outcome
        return None

    async def why_no_run(self, turn: TurnView) -> str:
        for each in self._skipping:
            with self._costing_nothing(each):
                if why := await each.why_no_run(turn):
                    return why
        return ""

    def follow(self, run: BegunRun) -> RunFollower:
        followers = []
        for each in self._followers:
            with self._costing_nothing(each):
                if (follower := each.follow(run)) is not None:
                    followers.append(FollowerOf(follower, partial(self._report, each)))
        return RunFollowers(followers)

    async def run_ended(self, run: EndedRun) -> None:
        for each in self._following_runs:
            with self._costing_nothing(each, passes_on=True):
                await each.run_ended(run)

    def condition_edits(self, run: EndedRun) -> Sequence[ConditionEdit]:
        edits = []
        for each in self._editing:
            with self._costing_nothing(each):
                if (edit := each.condition_edit(run)) is not None:
                    edits.append(edit)
        return edits

    async def foresee(self, run: EndedRun) -> Foreseen:
        return await foreseen_by((each.foresee for each in self._loaded), run)

    def run_again(self, key: Key) -> None:
        self._notify(lambda each: each.run_again(key))

    def acted(self, key: Key, act: Act) -> None:
        for each in self._following_acts:
            with self._costing_nothing(each):
                each.acted(key, act)

    def acts(self) -> dict[Key, Sequence[Act]]:
        acts: dict[Key, Sequence[Act]] = {}
        for each in self._acting:
            with self._costing_nothing(each):
                for key, done in each.acts().items():
                    acts[key] = (*acts.get(key, ()), *done)
        return acts

    def reviewer_of(self, webhook: Webhook) -> GiveVerdict | None:
        found = (each.reviewer(webhook) for each in self._loaded)
        return next((reviewer for reviewer in found if reviewer is not None), None)

    async def was_owned(self, owner: Owner, uid: str) -> bool:
        for each in self._loaded:
            with self._costing_nothing(each):
                if await each.was_owned(owner, uid):
                    return True
        return False

    def on_kinds_change(self) -> None:
        self._notify(lambda each: each.on_kinds_change())

    async def on_gone(self, key: Key) -> None:
        for each in self._loaded:
            with self._costing_nothing(each, passes_on=True):
                await each.on_gone(key)

    async def sweep(self) -> None:
        for each in self._loaded:
            with self._costing_nothing(each, passes_on=True):
                await each.sweep()

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._notify(lambda each: each.forget_of(is_meant))

    def has_unwritten(self, part: int) -> bool:
        return any(each.has_unwritten(part) for each in self._loaded)

    async def write_parts(self, parts: Collection[int]) -> None:
        for each in self._loaded:
            with self._costing_nothing(each):
                await each.write_parts(parts)

    def forget_parts(self, parts: Collection[int]) -> None:
        self._notify(lambda each: each.forget_parts(parts))

    def begin_end(self) -> None:
        self._notify(lambda each: each.begin_end())

    async def stop(self) -> None:
        for each in self._loaded:
            with self._costing_nothing(each):
                await each.stop()

    def turn_over(self, turn: Turn, outcome: Outcome) -> None:
        assert self._last_runs is not None, "begun before the first turn"
        self._last_runs.turn_over(turn.key, outcome)
        if self._wanting_turns:
            self._ended_turns.add(turn, outcome)

    async def close(self) -> None:
        """Deliver the turns that ended last, then close; bounded."""
        await asyncio.wait([in_thread(self._finish)], timeout=CLOSING_S)
        if self._ended_turns.is_behind:
            names = ", ".join(each.name for each in self._wanting_turns)
            fields = log_fields(extensions=names)
            _logger.warning("extensions did not finish with the last runs in time", extra=fields)

    def _finish(self) -> None:
        self._ended_turns.work_off()
        for each in self._overriding("close"):
            with self._costing_nothing(each):
                each.close(CLOSING_S)

    def _notify_of(self, turns: Sequence[EndedTurn]) -> None:
        for each in self._wanting_turns:
            with self._costing_nothing(each):
                each.turns_ended(turns)

    def _notify(self, step: Callable[[Extension], None]) -> None:
        for each in self._loaded:
            with self._costing_nothing(each):
                step(each)

    def _overriding(self, step: str) -> list[Extension]:
        return [
            each
            for each in self._loaded
            if getattr(type(each), step) is not getattr(Extension, step)
        ]

    @contextmanager
    def _costing_nothing(self, extension: Extension, *, passes_on: bool = False) -> Iterator[None]:
        """`passes_on`: errors of the cluster are raised, as the engine does the step again for them."""
        try:
            yield
        except Exception as error:
            if passes_on and isinstance(error, RolecallError):
                raise
            self._report(extension, error)

    def _report(self, extension: Extension, error: Exception) -> None:
        self._on_fault(f"extension {extension.name}")
        fields = log_fields(extension=extension.name, why=repr(error))
        _logger.error("internal error: an extension failed", extra=fields, exc_info=error)

    def _warn_of_needs(self) -> None:
        published = {kind for each in self._loaded for kind in each.publishes}
        for each in self._loaded:
            for kind in each.needs:
                if kind not in published:
                    why = f"no extension that is loaded and switched on publishes {kind.__name__}"
                    fields = log_fields(why=why)
                    _logger.warning("the extension `%s` has no effect", each.name, extra=fields)


def followed_by(classes: Sequence[type[Extension]], command: CommandView) -> FollowRun:
    """All followers of the runs of a command, which has no engine; what they raise ends it."""
    found = [follow for each in classes if (follow := each.follows(command)) is not None]
    return lambda run: RunFollowers([FollowerOf(follow(run), _raised) for follow in found])


def _raised(error: Exception) -> None:
    raise error
