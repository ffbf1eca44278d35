"""Waits until a condition holds, and shows the last value if it never did.

    eventually(lambda: cluster.api.get(path)["status"]["phase"], lambda phase: phase == "Bound")
    await eventually_async(lambda: queue.length, lambda length: length == 3)

Looks again and again instead of sleeping: a test takes as long as the condition takes. An exception
named in `ignoring` means "not yet", so a look may assert, or may find nothing at first.

A look costs what it waits for: a kubectl without pauses keeps a core busy that the system needs to get
there. So the pause grows, with what a look takes and with what was waited already; within the first
second of cheap looks it is 20 ms, and never more than half a second.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")

# The machine may be busy with other tests: what takes a second alone may take many.
TIMEOUT_S = 180.0
_LEAST_S, _USUAL_S, _MOST_S = 0.02, 0.1, 0.5
_NOT_YET: tuple[type[Exception], ...] = (AssertionError, LookupError)


class NeverCameError(AssertionError):
    """The condition did not come in time; says what was seen last."""


def eventually(
    look: Callable[[], T],
    is_right: Callable[[T], object] = bool,
    *,
    timeout_s: float = TIMEOUT_S,
    ignoring: tuple[type[Exception], ...] = _NOT_YET,
) -> T:
    """Call `look` until its value is right (by default: true), and return the value."""
    wait = _Wait(timeout_s)
    while True:
        last: object
        try:
            last = value = look()
            if is_right(value):
                return value
        except ignoring as error:
            last = error
        time.sleep(wait.pause_s(last))


@overload
async def eventually_async(
    look: Callable[[], Awaitable[T]],
    is_right: Callable[[T], object] = ...,
    *,
    timeout_s: float = ...,
    ignoring: tuple[type[Exception], ...] = ...,
) -> T: ...


@overload
async def eventually_async(
    look: Callable[[], T],
    is_right: Callable[[T], object] = ...,
    *,
    timeout_s: float = ...,
    ignoring: tuple[type[Exception], ...] = ...,
) -> T: ...


async def eventually_async(
    look: Callable[[], Any],
    is_right: Callable[[Any], object] = bool,
    *,
    timeout_s: float = TIMEOUT_S,
    ignoring: tuple[type[Exception], ...] = _NOT_YET,
) -> Any:
    """The same without blocking the loop; `look` may be a coroutine function."""
    wait = _Wait(timeout_s)
    while True:
        last: object
        try:
            seen = look()
            last = value = (await seen) if inspect.isawaitable(seen) else seen
            if is_right(value):
                return value
        except ignoring as error:
            last = error
        await asyncio.sleep(wait.pause_s(last))


class _Wait:
    """Begins a look when it is made, and after each pause."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._began = self._looked = time.monotonic()

    def pause_s(self, last: object) -> float:
        """Until the next look; raises where it would be too late, with what was seen last."""
        now = time.monotonic()
        if now > self._began + self._timeout_s:
            raise _never_came(last, self._timeout_s)
        pause_s = _pause_s(now - self._looked, now - self._began)
        self._looked = now + pause_s
        return pause_s


def _pause_s(look_s: float, waited_s: float) -> float:
    """Looks are a third of the time at most, and a wait is a fiftieth too long."""
    grown_s = min(waited_s / 50, _USUAL_S)
    return min(max(_LEAST_S, 2 * look_s, grown_s), _MOST_S)


def _never_came(last: object, timeout_s: float) -> NeverCameError:
    cause = last if isinstance(last, BaseException) else None
    error = NeverCameError(f"did not come within {timeout_s:g} s; seen last: {last!r}")
    error.__cause__ = cause
    return error
