"""Catches whatever holds the event loop, with its stack; for debugging and for tests.

A beat on the loop measures how late it comes; a thread looks at the loop's stack as soon as a beat is
overdue, which is the only moment when the culprit can be named. Time in which the machine had no CPU
for the loop is not counted: on a busy machine that happens to every process. Rejected: asyncio's debug
mode, which slows everything that it measures.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import Callable

from rolecall.clock import Clock, thread_times
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_FRAMES = 6

OnHeld = Callable[[float], None]


class LoopMonitor:
    def __init__(self, limit_s: float, clock: Clock, on_held: OnHeld) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._on_held = on_held
        self._ended = threading.Event()
        # Written by the beat, read by the thread, and the other way round; both are single values.
        self._beat_at = clock.monotonic()
        self._stack = ""
        self._native_id = 0  # of the loop's thread

    async def run(self) -> None:
        loop_thread = threading.get_ident()
        self._native_id = threading.get_native_id()
        watcher = threading.Thread(
            target=self._watch, args=(loop_thread,), name="loop monitor", daemon=True
        )
        watcher.start()
        try:
            while True:
                await self._beat()
        finally:
            self._ended.set()
            await asyncio.to_thread(watcher.join)

    async def _beat(self) -> None:
        pause_s = self._limit_s / 2
        before_s, before = self._clock.monotonic(), thread_times(self._native_id)
        self._beat_at, self._stack = before_s, ""
        await self._clock.sleep(pause_s)
        now = thread_times(self._native_id)
        late_s = self._clock.monotonic() - before_s - pause_s
        held_s = late_s - (now.queueing - before.queueing)
        if held_s > self._limit_s:
            working_ms = round((now.working - before.working) * 1e3)
            self._on_held(held_s)
            _logger.warning(
                "the event loop was blocked",
                extra=log_fields(ms=round(held_s * 1e3), cpu_ms=working_ms, at=self._stack),
            )

    def _watch(self, loop_thread: int) -> None:
        while not self._ended.wait(self._limit_s / 4):
            is_overdue = self._clock.monotonic() - self._beat_at > self._limit_s * 1.5
            if is_overdue and not self._stack:
                self._stack = _stack_of(loop_thread)


def _stack_of(thread_id: int) -> str:
    frame = sys._current_frames().get(thread_id)
    frames = traceback.extract_stack(frame)[-_FRAMES:] if frame is not None else []
    return " < ".join(f"{one.name} {one.filename}:{one.lineno}" for one in reversed(frames))
