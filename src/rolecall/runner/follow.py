"""Follows a run to its end, whichever way it was started: output, time limits, cancel, ending.

Blocking, in the run's own thread. The ways differ only in what stands behind `RunProcess`: how the
process is started, what it reports beside its output, and how all of it is ended.

A play that has ended may leave something behind that holds its output, and writes, for ever. So the
end is what the process says, and then only what was written by that time is read.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from rolecall.clock import Clock
from rolecall.runner.contract import Ending
from rolecall.runner.fold import Exit
from rolecall.runner.limits import TimeLimits
from rolecall_base.polling import readable

_CHUNK_BYTES = 1 << 16
# What a pipe holds at most where the kernel does not say.
_USUAL_PIPE_BYTES = 1 << 20

Feed = Callable[[str], None]


class RunProcess(Protocol):
    """A process that plays, with all that it starts."""

    output: int  # descriptor of the pipe that it prints to; stays its owner's to close
    began_s: float  # when the play began; its limits count from here
    has_ended: bool

    @property
    def stands(self) -> bool:
        """Whether it is stopped now, until it has a slot again."""

    @property
    def stood_s(self) -> float:
        """How long it was stopped so, in all; counts for no limit."""

    @property
    def spoke_s(self) -> float:
        """When it last said anything beside its output, or could again."""

    @property
    def reports(self) -> Sequence[int]:
        """Descriptors on which it reports anything else."""

    def read_report(self, descriptor: int) -> bool:
        """Read a report there; False where no more will come."""

    def end(self) -> None:
        """End it, and all that it started."""

    def freeze(self) -> None:
        """Stop it, and all that it started, where it is; from any thread, while it is followed."""

    def code(self) -> int:
        """Once it has ended: its exit status, or minus the number of the signal that ended it."""

    @property
    def cpu_s(self) -> float | None:
        """After `code`: what all of it took of the CPUs; None where that is not known."""


class RunStop:
    """Asks for the end of a run, from any thread, at any time. Who asks first, wins."""

    def __init__(self) -> None:
        self.asked: tuple[Ending, str] | None = None
        self._lock = threading.Lock()
        self._process: RunProcess | None = None
        self.descriptor, self._wake = os.pipe()  # readable once a stop or a look is requested
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._wake, False)

    def ask(self, ended_as: Ending, reason: str) -> None:
        with self._lock:
            if self.asked is None:
                self.asked = (ended_as, reason)
                self._ring()

    def look(self) -> None:
        """Have the follower of the run look at its limits anew."""
        with self._lock:
            if self.asked is None:  # else nothing counts any more, and the pipe may be closed
                self._ring()

    def is_asked(self) -> bool:
        """Whether what made the descriptor readable was the end."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.descriptor, _CHUNK_BYTES)
        return self.asked is not None

    def freeze(self) -> None:
        """Stop all processes of the run before this returns; to go on is not provided for."""
        with self._lock:
            if self._process is not None:
                self._process.freeze()

    @contextlib.contextmanager
    def reaching(self, process: RunProcess) -> Iterator[None]:
        """Let `freeze` reach this process while the context lasts."""
        with self._lock:
            self._process = process
        try:
            yield
        finally:
            with self._lock:
                self._process = None

    def close(self) -> None:
        """For the follower of the run, which alone knows that it is over."""
        with self._lock:
            self.asked = self.asked or (Ending.FINISHED, "")
            os.close(self.descriptor)
            os.close(self._wake)

    def _ring(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full of bytes that are not read yet
            os.write(self._wake, b"r")


def follow(
    process: RunProcess, limits: TimeLimits, stop: RunStop, feed: Feed, clock: Clock
) -> Exit:
    """Hand the output on as it comes, keep the limits, and return how it ended, but for the times."""
    with stop.reaching(process):
        return _followed(process, limits, stop, feed, clock)


def _followed(
    process: RunProcess, limits: TimeLimits, stop: RunStop, feed: Feed, clock: Clock
) -> Exit:
    output = _Output(process.output, feed, clock)
    watched = {process.output, stop.descriptor, *process.reports}
    while not process.has_ended:
        ready = readable(watched, _left_s(process, output, limits, stop, clock))
        if process.output in ready and not output.read():
            watched.discard(process.output)
        if stop.descriptor in ready and stop.is_asked():
            watched.discard(stop.descriptor)
            process.end()
        for report in ready.intersection(process.reports):
            if not process.read_report(report):
                watched.discard(report)
    output.drain()
    code = process.code()
    if code >= 0:  # it may have ended before the signal
        return Exit(code, cpu_s=process.cpu_s)
    ended_as, reason = stop.asked or (None, "")
    return Exit(None, signal=-code, ended_as=ended_as, reason=reason, cpu_s=process.cpu_s)


def _left_s(
    process: RunProcess, output: _Output, limits: TimeLimits, stop: RunStop, clock: Clock
) -> float | None:
    """Seconds until a limit passes; asks for the end where one has."""
    if stop.asked is not None or process.stands:
        return None
    progress_s = max(output.progress_s, process.began_s, process.spoke_s)
    end = limits.next_end(process.began_s + process.stood_s, progress_s)
    if end is None:
        return None
    at_s, ended_as, reason = end
    left_s = at_s - clock.monotonic()
    if left_s > 0:
        return left_s
    stop.ask(ended_as, reason)
    return None


class _Output:
    """What a play prints, handed on as text, piece by piece."""

    def __init__(self, pipe: int, feed: Feed, clock: Clock) -> None:
        self._pipe, self._feed, self._clock = pipe, feed, clock
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.progress_s = clock.monotonic()  # when it last said something
        os.set_blocking(pipe, False)

    def read(self) -> int:
        """Hand on what is there; 0 bytes also where nothing can come any more."""
        chunk = b""
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._pipe, _CHUNK_BYTES)
        if chunk:
            self.progress_s = self._clock.monotonic()
            self._feed(self._decoder.decode(chunk))
        return len(chunk)

    def drain(self) -> None:
        """Hand on as much as a pipe holds, and no more: others may still write."""
        left = _bytes_held(self._pipe)
        while left > 0 and (taken := self.read()):
            left -= taken
        self._feed(self._decoder.decode(b"", final=True))


def _bytes_held(pipe: int) -> int:
    ask = getattr(fcntl, "F_GETPIPE_SZ", None)  # of Linux
    return _USUAL_PIPE_BYTES if ask is None else fcntl.fcntl(pipe, ask)
