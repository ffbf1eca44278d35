"""Follows one run in a run child: its output, its reports, its limits, its end.

Blocking, in a thread of the run's own. What decides whether a run *began* is the child's first report;
a report socket that closes without one means that no process ever had the order, so it may be run
elsewhere. After the first report the run is followed to its end, with the host or without.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from rolecall.clock import Clock
from rolecall.runner.contract import Ending
from rolecall.runner.fold import Exit
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.limits import Limits
from rolecall.runner.warm import processes, wire
from rolecall.runner.warm.link import HostLink

_CHUNK_BYTES = 1 << 16
# A host that took an order forks within milliseconds; one that has not by then hangs and is ended.
_BEGIN_TIMEOUT_S = 15.0
# The host reaps at once; where it does not answer, the signal is taken to be the usual one.
_ENDING_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """One run for the host."""

    prepared: PreparedRun
    env: dict[str, str]  # the prepared one, with the run's own temporary folder

    def message(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {
            "op": "run",
            "id": self.prepared.request.run_id,
            "command": list(self.prepared.command),
            "env": self.env,
            "cwd": str(self.prepared.cwd),
            # Where its texts are: a folder with nothing but playbooks may be anything, even `/`.
            "role": str(self.prepared.play.path) if self.prepared.play.is_role else "",
        }


@dataclass(slots=True)
class Notes:
    """What the run child reported besides its output."""

    tasks: list[dict[str, Any]] = field(default_factory=list)
    modules: list[dict[str, Any]] = field(default_factory=list)  # of forked workers, by task uuid
    crash: str = ""  # a traceback of ours; a bug


class RunLine:
    """The two ends of a run: descriptors for the child, and what the engine reads and asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended_as: tuple[Ending, str] | None = None  # who asked first, wins
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def end(self, ended_as: Ending, reason: str) -> None:
        """Ask for the end of the run; from any thread, at any time."""
        with self._lock:
            if self._ended_as is None:
                self._ended_as = (ended_as, reason)
                with contextlib.suppress(OSError):
                    os.write(self._wake_write, b"e")

    @property
    def ended_as(self) -> tuple[Ending, str] | None:
        """Who asked for the end, and why."""
        return self._ended_as

    @property
    def wake_fd(self) -> int:
        """Readable once somebody asked for the end."""
        return self._wake_read

    def close(self) -> None:
        """Release the descriptors."""
        with self._lock:
            self._ended_as = self._ended_as or (Ending.FINISHED, "")
            os.close(self._wake_read)
            os.close(self._wake_write)


class Follower:
    """One order to one host, followed to its end."""

    def __init__(self, order: Order, host: HostLink, line: RunLine, clock: Clock) -> None:
        self.order, self._host, self._line, self._clock = order, host, line, clock
        self.notes = Notes()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._output, output_end = os.pipe2(os.O_CLOEXEC)
        self._reports, reports_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid, self._pidfd = 0, -1
        self._rc: int | None = None
        self._progress = self._started = clock.monotonic()
        with reports_end:
            try:
                host.order(order.message(), [output_end, reports_end.fileno()])
            except BaseException:
                self.close()
                raise
            finally:
                os.close(output_end)

    def close(self) -> None:
        """Release the descriptors, and let the host forget the run."""
        self._host.forget(self.order.prepared.request.run_id)
        os.close(self._output)
        self._reports.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def abandon(self) -> None:
        """End the run; for when nobody can take its output."""
        if self._pidfd >= 0:
            processes.kill_tree(self._pid, self._pidfd)

    def wait_begun(self) -> bool:
        """Wait for the child's first word; False where no child ever had the order."""
        ready, _, _ = select.select([self._reports], [], [], _BEGIN_TIMEOUT_S)
        if not ready:
            # With the host gone, either a child holds the line and speaks, or nobody does.
            self._host.kill()
            select.select([self._reports], [], [])
        received = self._read_report()
        self._started = self._progress = self._clock.monotonic()
        return received

    def follow(self, limits: Limits, feed: Callable[[str], None], began: float) -> Exit:
        """Hand the output on as it comes, keep the limits, return how it ended."""
        os.set_blocking(self._output, False)
        watched = {self._output, self._reports.fileno(), self._pidfd, self._line.wake_fd}
        is_alive = True
        while is_alive:
            wait_s = self._check(limits)
            ready, _, _ = select.select(list(watched), [], [], wait_s)
            if self._output in ready and not self._read_output(feed):
                watched.discard(self._output)
            if self._reports.fileno() in ready and not self._read_report():
                watched.discard(self._reports.fileno())
            if self._line.wake_fd in ready:
                watched.discard(self._line.wake_fd)
                processes.kill_tree(self._pid, self._pidfd)
            # After its last word it only has to go, which takes the kernel a while: nobody waits.
            is_alive = self._pidfd not in ready and self._rc is None
        self._drain(feed)
        return self._exit(began)

    def _drain(self, feed: Callable[[str], None]) -> None:
        # All that the child wrote is in the pipe by now; what it left behind may hold it for ever.
        while self._read_output(feed):
            pass
        feed(self._decoder.decode(b"", final=True))
        self._reports.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self._read_report():
                pass

    def _read_output(self, feed: Callable[[str], None]) -> bool:
        try:
            chunk = os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if chunk:
            self._progress = self._clock.monotonic()
            feed(self._decoder.decode(chunk))
        return bool(chunk)

    def _read_report(self) -> bool:
        received = wire.read_report(self._reports)
        if received is None:
            return False
        message, fds = received
        match message.get("r"):
            case "begin" if fds:
                self._pid, self._pidfd = int(message["pid"]), fds.pop()
            case "task":
                self.notes.tasks.append(message)
            case "module":
                self.notes.modules.append(message)
            case "end":
                self._rc, self.notes.crash = message["rc"], message.get("crash", "")
        for fd in fds:
            os.close(fd)
        return True

    def _check(self, limits: Limits) -> float | None:
        """Ask for the end where a limit passed; returns the seconds until one does."""
        if self._line.ended_as is not None:
            return None
        now = self._clock.monotonic()
        passed = limits.passed(now, self._started, self._progress)
        if passed is None:
            return limits.left_s(now, self._started, self._progress)
        self._line.end(*passed)
        return None

    def _exit(self, began: float) -> Exit:
        timed = Exit(
            self._rc,
            started_late_s=self._started - began,
            seconds=self._clock.monotonic() - began,
            way="warm",
        )
        if self._rc is not None:
            return timed  # it was faster than whoever wanted to end it
        ended_as, reason = self._line.ended_as or (None, "")
        code = self._host.ending_of(self.order.prepared.request.run_id, _ENDING_TIMEOUT_S)
        if ended_as is None and code is not None and code >= 0:
            return replace(timed, rc=code)  # it left without a word, but by itself
        number = -code if code is not None and code < 0 else int(signal.SIGKILL)
        return replace(timed, signal=number, ended_as=ended_as, reason=reason)
