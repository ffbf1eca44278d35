"""A run in flight: a task of the loop, whose play is followed in a thread of its own.

A thread for each run, so that neither a slow disk nor an event of a megabyte holds up the loop; all
that reaches the engine's rooms comes on the loop's own thread, events first, the result last. Rejected:
the loop's pool of threads (a handful of long runs would fill it, and the next ones would look hung).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from rolecall.runner.contract import Ending, OnEvent, RunEvent, RunRequest, RunResult
from rolecall.runner.folders import CannotStartError
from rolecall.runner.follow import RunStop
from rolecall.runner.given_up import result_of_no_thread

_T = TypeVar("_T")

# Too short to be seen, and an event that comes alone is followed by others.
_TOGETHER_S = 0.01

# Ends what the run is at, for a reason.
EndRun = Callable[[str], None]


def _nothing_to_stop() -> None:
    """No process has begun, or all have ended."""


class RunTask:
    """The handle of one run; `play` is the whole of it, and says by `on_cancel` how to end it."""

    def __init__(self, play: Callable[[RunTask], Coroutine[Any, Any, RunResult]]) -> None:
        self._end: EndRun | None = None
        # What stops all its processes at once, while there are any; called on the loop.
        self.stop_processes: Callable[[], None] = _nothing_to_stop
        self.cancelled: str | None = None  # why, if it was
        self._reported: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(play(self))

    def on_cancel(self, end: EndRun | None) -> None:
        """What ends the run from now on; a cancel that came before is not forgotten."""
        self._end = end
        if end is not None and self.cancelled is not None:
            end(self.cancelled)

    @property
    def is_tidying(self) -> bool:
        """Whether its result is known, and it still has its folder."""
        return self._reported.done() and not self.task.done()

    def report_result(self, result: RunResult) -> None:
        """What is left is to tidy up, which is no reason to wait."""
        if not self._reported.done():
            self._reported.set_result(result)

    async def result(self) -> RunResult:
        await self._first_of(self.task)
        return self.task.result()

    async def result_before_tidying(self) -> RunResult:
        await self._first_of(self._reported, self.task)
        return self._reported.result() if self._reported.done() else self.task.result()

    async def _first_of(self, *futures: asyncio.Future[RunResult]) -> None:
        try:
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.cancel("nothing waits for its result any more")
            await asyncio.wait([self.task])
            raise

    def freeze(self) -> None:
        """Stop what runs, here and now; `cancel` ends it."""
        self.stop_processes()

    def cancel(self, reason: str) -> None:
        if self.cancelled is None:
            self.cancelled = reason
            if self._end is not None:
                self._end(reason)


@dataclass(frozen=True, slots=True)
class RunThread:
    """What a run has in its own thread."""

    stop: RunStop
    report: OnEvent
    report_result: Callable[[RunResult], None]
    on_loop: Callable[..., None]  # calls a function with arguments, later, on the loop


async def play_in_thread(
    run: RunTask, request: RunRequest, on_event: OnEvent, play: Callable[[RunThread], _T]
) -> _T | RunResult:
    """The whole of a run; raises what it raises, and `CannotStartError` where nothing began."""
    loop = asyncio.get_running_loop()
    try:
        stop = RunStop()
    except OSError as error:  # no descriptor left
        why = error.strerror or error
        raise CannotStartError(f"the run could not be set up: {why}") from error

    def on_loop(act: Callable[..., None], *arguments: object) -> None:
        try:
            loop.call_soon_threadsafe(act, *arguments)
        except RuntimeError:  # the loop was closed over it, so no report can arrive
            stop.ask(Ending.CANCELLED, "the operator's process has ended")

    def report_result(result: RunResult) -> None:
        events.pass_on()
        run.report_result(result)

    def report(event: RunEvent) -> None:
        request.note_event(event)
        events.report(event)

    events = _PassedOn(on_event, on_loop)

    def whole() -> _T:
        with contextlib.closing(stop):
            report_end = partial(on_loop, report_result)
            return play(RunThread(stop, report, report_end, on_loop))

    run.on_cancel(lambda reason: stop.ask(Ending.CANCELLED, reason))
    run.stop_processes = stop.freeze
    try:
        playing = in_thread(whole)
    except (RuntimeError, MemoryError) as error:
        stop.close()
        return result_of_no_thread(request.run_id, error)
    try:
        return await playing
    except asyncio.CancelledError:
        stop.ask(Ending.CANCELLED, "nothing waits for its result any more")
        raise
    finally:
        run.on_cancel(None)
        run.stop_processes = _nothing_to_stop
        events.pass_on()


class _PassedOn:
    """Events on their way to the loop, a few at a time.

    The loop and the run's thread take turns: an event that wakes the loop stops the thread for as long
    as the loop has anything to do.
    """

    def __init__(self, on_event: OnEvent, on_loop: Callable[..., None]) -> None:
        self._on_event, self._on_loop = on_event, on_loop
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[RunEvent] = deque()
        self._is_asked = False

    def report(self, event: RunEvent) -> None:
        """In the run's thread."""
        self._waiting.append(event)
        if not self._is_asked or self._loop.is_closed():
            self._is_asked = True
            self._on_loop(self._wait_for_more)

    def _wait_for_more(self) -> None:
        self._loop.call_later(_TOGETHER_S, self.pass_on)

    def pass_on(self) -> None:
        """On the loop."""
        self._is_asked = False  # before the last look, so that none is left
        while self._waiting:
            try:
                self._on_event(self._waiting.popleft())
            except Exception as error:  # a bug of the listener, which is not the run's affair
                context = {"message": "an event was not understood", "exception": error}
                self._loop.call_exception_handler(context)


def in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Blocking work in a thread, which goes on to its end also when its caller no longer waits."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def report(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: no report can arrive
            loop.call_soon_threadsafe(settle, set_outcome, outcome)

    def body() -> None:
        try:
            result = work()
        except BaseException as error:  # carried to the caller that awaits
            report(future.set_exception, error)
        else:
            report(future.set_result, result)

    # With its context, by which the log lines of several engines in one process are attributed.
    run_body = partial(contextvars.copy_context().run, body)
    threading.Thread(target=run_body, name="run", daemon=True).start()
    return future
