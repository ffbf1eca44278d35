"""From start to exit: parts run side by side until one fails or a stop is requested; they end in order.

Promises: SIGTERM and SIGINT ask to stop, a second one ends the wait for what is still running; the
first failure of any part ends all of them and is what the caller sees. The order of ending is the whole
point: no new keys; runs in flight get their time; the streams of CRs end, here; then those of
dependents; then the Lease is released; and only then do the listeners close that plays use
(`open_engine`). Rejected: one task group for everything, since it cancels all at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rolecall.errors import LeadershipLostError

# Hands out nothing more and ends what is in flight: patiently or at once, and for which reason.
Drain = Callable[[bool, str], Coroutine[Any, Any, None]]
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(slots=True)
class Stop:
    """What the outside asked for."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurried: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self) -> None:
        """Stop; asked twice, do not wait for anything."""
        if self.asked.is_set():
            self.hurried.set()
        self.asked.set()


@contextlib.contextmanager
def signals_asking(stop: Stop) -> Iterator[None]:
    """Let SIGTERM and SIGINT ask to stop while the context lasts."""
    take_signals(stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)


def take_signals(stop: Stop) -> None:
    """Also from a library that took them; a signal that came meanwhile asks as well."""
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop.ask)


async def run_parts(
    parts: Mapping[str, Coroutine[Any, Any, None]], drain: Drain, stop: Stop
) -> None:
    """Run all parts until a stop is requested, or one fails; raises what it failed with."""
    tasks = [asyncio.create_task(part, name=name) for name, part in parts.items()]
    failure: BaseException | None = None
    try:
        failure = await _first_failure(tasks, stop.asked)
        if isinstance(failure, LeadershipLostError):
            await drain(False, str(failure.message))
        else:
            await _drain_in_time(drain, stop.hurried)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if failure is not None:
        raise failure


async def _first_failure(
    tasks: list[asyncio.Task[None]], asked: asyncio.Event
) -> BaseException | None:
    """Wait for whatever comes first; no failure means that a stop was requested."""
    stopping = asyncio.create_task(asked.wait(), name="stop")
    try:
        done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
    for task in tasks:
        if task in done:
            return task.exception() or RuntimeError(f"`{task.get_name()}` ended by itself")
    return None


async def _drain_in_time(drain: Drain, hurried: asyncio.Event) -> None:
    """Let runs in flight go on for their time, unless a second stop is requested."""
    patient = asyncio.create_task(drain(True, "the operator stopped"), name="drain")
    hurry = asyncio.create_task(hurried.wait(), name="hurry")
    try:
        await asyncio.wait({patient, hurry}, return_when=asyncio.FIRST_COMPLETED)
        if patient.done():
            await patient
            return
    finally:
        for task in (patient, hurry):
            task.cancel()
        await asyncio.gather(patient, hurry, return_exceptions=True)
    await drain(False, "received a second termination signal")
