"""Workers take keys, reconcile each, and put it back the way its outcome says.

Promises: a turn is taken under the right to act for its CR, and a key whose right is another replica's
leaves the queue without a word; a key is put down whatever happened to its turn; a bug costs one CR one
turn, is logged with its traceback and reported in that CR's status; on shutdown, turns under way get
some time, then their runs are ended, process groups and all, and only then is the process allowed to
go.

There are as many workers as there may be runs at once, so a worker that waits for its run holds up
no other: the queue never has more keys out than that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from rolecall.acting import acting_for
from rolecall.clock import Clock
from rolecall.election import Election
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.loop import Reconciler
from rolecall.reconcile.ports import NoFollowers, Outcome, Telemetry, TurnFollowers
from rolecall.workqueue import Key, Queue, QueueClosedError, Turn

# What ending a process group and one last status write may take.
AFTER_CANCEL_S = 5.0

_logger = logging.getLogger(__name__)


class Workers:
    def __init__(
        self,
        queue: Queue,
        reconciler: Reconciler,
        telemetry: Telemetry,
        clock: Clock,
        election: Election,
        followers: TurnFollowers | None = None,
    ) -> None:
        self._queue = queue
        self._reconciler = reconciler
        self._telemetry = telemetry
        self._clock = clock
        self._election = election
        self._followers = followers or NoFollowers()
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, count: int) -> None:
        """Work until the queue is closed and every turn is over."""
        async with asyncio.TaskGroup() as group:
            self._tasks = [
                group.create_task(self._work(), name=f"worker {number}") for number in range(count)
            ]

    async def drain(self, patience_s: float, reason: str = "the operator is stopping") -> None:
        """Take no more keys, wait for the turns under way, and end their runs when it takes too long.

        With no patience, as after leadership was lost, runs are ended at once.
        """
        self._queue.close()
        if patience_s > 0 and await self._is_drained_within(patience_s):
            return
        self._reconciler.cancel_runs(reason)
        if await self._is_drained_within(AFTER_CANCEL_S):
            return
        for task in self._tasks:
            task.cancel()
        if not await self._is_drained_within(AFTER_CANCEL_S):
            _logger.error("some reconciles did not end, though their runs were stopped")

    async def _work(self) -> None:
        while True:
            await self._election.wait_leading()
            try:
                turn = await self._queue.take()
            except QueueClosedError:
                return
            try:
                await self._take_turn_if_ours(turn)
            except Exception:  # a bug after the turn: the key must come back all the same
                _logger.exception(
                    "internal error: the end of a reconcile could not be handled",
                    extra=key_fields(turn.key),
                )
                self._queue.fail(turn.key)
            finally:
                if self._election.hand_for(turn.key) is None:
                    self._queue.drop(turn.key.__eq__)
                self._queue.done(turn.key)
                self._election.put_down(turn.key)

    async def _take_turn_if_ours(self, turn: Turn) -> None:
        hand = self._election.hand_for(turn.key)
        if hand is None:
            self._queue.drop(turn.key.__eq__)
            return
        with acting_for(hand):
            await self._take_turn(turn)

    async def _take_turn(self, turn: Turn) -> None:
        _log_begin(turn)
        self._telemetry.phase(turn.key.gvk, "queue", turn.waited_s)
        began = self._clock.monotonic()
        outcome = await self._outcome_of(turn)
        next_in_s = self._put_back(turn.key, outcome)
        result = _result_of(outcome)
        self._telemetry.reconcile_finished(turn.key.gvk, result, self._clock.monotonic() - began)
        _log_end(turn.key, outcome, next_in_s)
        self._followers.turn_over(turn, outcome)
        await self._reconciler.print_output(turn.key, outcome)

    async def _outcome_of(self, turn: Turn) -> Outcome:
        try:
            outcome = await self._reconciler.reconcile(turn)
            if outcome.forget:
                await self._followers.on_gone(turn.key)
            return outcome
        except Exception as error:  # the one place where a bug becomes an outcome
            _logger.exception("internal error: a reconcile failed", extra=key_fields(turn.key))
            await self._reconciler.report_bug(turn.key)
            return Outcome(error=f"internal error: {error!r}")

    def _put_back(self, key: Key, outcome: Outcome) -> float | None:
        """Returns in how many seconds the key comes back; None: when something happens."""
        match outcome:
            case Outcome(forget=True):
                self._queue.forget(key)
                return None
            case Outcome(is_error=True):
                # A kind that went comes back in minutes, not in milliseconds.
                return self._queue.fail(key, by_role=outcome.is_of_run or outcome.is_of_kind)
            case Outcome(is_put_off=True):
                self._queue.add_after(key, outcome.after_s or 0.0, outcome.urgency, outcome.cause)
                return outcome.after_s
            case Outcome(after_s=None):
                self._queue.succeed(key)
                return None
            case Outcome(after_s=float() | int() as after_s, is_period=True):
                self._queue.succeed(key)
                self._queue.add_next_period(key, after_s)
                return after_s
            case _:
                self._queue.succeed(key)
                self._queue.add_after(key, outcome.after_s or 0.0, outcome.urgency, outcome.cause)
                return outcome.after_s

    async def _is_drained_within(self, seconds: float) -> bool:
        drained = asyncio.ensure_future(self._queue.wait_drained())
        bell = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({drained, bell}, return_when=asyncio.FIRST_COMPLETED)
            return drained.done()
        finally:
            for task in (drained, bell):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def _result_of(outcome: Outcome) -> str:
    """As controller-runtime names it."""
    if outcome.is_error:
        return "error"
    return "success" if outcome.after_s is None else "requeue_after"


def _log_begin(turn: Turn) -> None:
    if _logger.isEnabledFor(logging.DEBUG):
        waited_s = round(turn.waited_s, 3)
        more = {"cause": str(turn.cause), "urgency": turn.urgency.name.lower()}
        _logger.debug("reconcile begins", extra=key_fields(turn.key, **more, waited_s=waited_s))


def _log_end(key: Key, outcome: Outcome, next_in_s: float | None) -> None:
    fields = _with_next_time(outcome.ran, next_in_s)
    if outcome.is_of_kind and not outcome.ran:
        _logger.debug("reconcile put off", extra=key_fields(key, **fields, why=outcome.error))
    elif outcome.is_error:
        # An error after a run, such as a status that could not be written, is not that of the run.
        if not outcome.is_of_run or "error" not in fields:
            fields["error"] = outcome.error
        what = "run failed" if outcome.is_of_run else "reconcile failed"
        _logger.error(what, extra=key_fields(key, **fields))
    elif outcome.ran:
        _logger.info("run finished", extra=key_fields(key, **fields))
    else:
        what = "reconcile put off" if outcome.is_put_off else "reconcile ends, nothing ran"
        _logger.debug(what, extra=key_fields(key, **fields, why=outcome.why))


def _with_next_time(ran: Mapping[str, object], next_in_s: float | None) -> dict[str, object]:
    """When the key comes back: after what went wrong, before what only identifies the run."""
    if next_in_s is None:
        return dict(ran)
    fields: dict[str, object] = {}
    for name, value in ran.items():
        fields[name] = value
        if name == "error":
            fields["next_in_s"] = round(next_in_s, 3)
    return {**fields, "next_in_s": round(next_in_s, 3)}
