"""One order to a host, and the run child that takes it: the `RunProcess` of the warm way.

What decides whether a run *began* is the child's first report; a report socket that closes without one
means that no process ever had the order, so it may be run elsewhere. After the first report the run is
followed to its end, with the host or without.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.clock import Clock
from rolecall.runner.follow import RunStop
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm.line import PlaceInLine
from rolecall.runner.warm.link import HostLink
from rolecall.runner.warm.speed import TaskNotes
from rolecall_base import processes, wire
from rolecall_base.marks import MarkedRun
from rolecall_base.polling import readable
from rolecall_base.processes import kill_found

# A host that took an order forks within milliseconds; one that forks for no order so long hangs, and is
# ended. Two hundred orders at once may take a busy machine longer.
_BEGIN_TIMEOUT_S = 15.0
# The host reaps at once; where it does not answer, the signal is taken to be the usual one.
_ENDING_TIMEOUT_S = 1.0
# What was killed goes at once, but for a process that is stuck in the kernel.
_KILLED_TIMEOUT_S = 20.0
# Reports taken without a look at anything else: a play may send them without end.
_MOST_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Order:
    """One run for the host."""

    prepared: PreparedRun
    env: dict[str, str]  # the prepared one, with the run's own temporary folder
    # Files and folders of its project; none: what it uses is not asked for.
    inputs: tuple[Path, ...] = ()

    def message(self) -> dict[str, Any]:
        return {
            "op": "run",
            "id": self.prepared.request.run_id,
            "command": list(self.prepared.command),
            "env": self.env,
            "cwd": str(self.prepared.cwd),
            # Where its texts are: a folder with nothing but playbooks may be anything, even `/`.
            "inputs": [str(path) for path in self.inputs],
            "role": str(self.prepared.play.path) if self.prepared.play.is_role else "",
            "may_wait": self.prepared.request.slot is not None,
        }


class RunChild:
    """A `RunProcess` once `wait_begun` said so. Leaving its context lets the host forget the run."""

    def __init__(self, order: Order, host: HostLink, stop: RunStop, clock: Clock) -> None:
        self.order, self._host, self._stop, self._clock = order, host, stop, clock
        self.notes = TaskNotes()
        self.on_event: Callable[[dict[str, Any]], None] = lambda _: None
        self.on_wait: Callable[[], None] = lambda: None
        # Given what answers it; the answer may come from any thread.
        self.on_want: Callable[[Callable[[], None]], None] = lambda answer: answer()
        self.has_ended = False
        self._pid, self._pidfd = 0, -1
        self._rc: int | None = None
        self.cpu_s: float | None = None
        self.began_s = clock.monotonic()
        self._line = PlaceInLine(clock)
        with contextlib.ExitStack() as undo:
            self.output, output_end = os.pipe2(os.O_CLOEXEC)
            undo.callback(os.close, self.output)
            with os.fdopen(output_end, "wb", buffering=0):
                self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.callback(self._socket.close)
                self._socket.setblocking(False)
                undo.callback(host.forget, order.prepared.request.run_id)
                with theirs:
                    host.order(order.message(), [output_end, theirs.fileno()])
            self._undo = undo.pop_all()

    def __enter__(self) -> RunChild:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    @property
    def reports(self) -> tuple[int, ...]:
        return (self._socket.fileno(), self._pidfd)

    @property
    def stands(self) -> bool:
        return self._line.stands

    @property
    def stood_s(self) -> float:
        return self._line.stood_s

    @property
    def spoke_s(self) -> float:
        return self._line.left_s

    def wait_begun(self, on_begun: Callable[[], None]) -> bool:
        """Wait for the child's first word; False where no child ever had the order."""
        if not self._host_is_at_work():
            # With the host gone, either a child has the socket and speaks, or no process does.
            self._host.kill()
            if not readable([self._socket.fileno()], _BEGIN_TIMEOUT_S):
                self._refuse_late_begin()
                return False
        has_begun = self._take_report()
        if has_begun and self._pidfd < 0:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        self.began_s = self._clock.monotonic()
        if has_begun:
            self._host.last_begun = self.began_s
            on_begun()
        return has_begun

    def read_report(self, descriptor: int) -> bool:
        if descriptor == self._pidfd:
            self.has_ended = True
            return False
        has_more = self.take_reports()
        # After its last word it only has to go, which takes the kernel a while: no need to wait.
        self.has_ended |= self._rc is not None
        return has_more

    def take_reports(self) -> bool:
        """Take what it has reported by now; False where no more will come."""
        with contextlib.suppress(BlockingIOError):
            return all(self._take_report() for _ in range(_MOST_AT_ONCE))
        return True

    def end(self) -> None:
        processes.kill_tree(self._pid, self._pidfd)

    def freeze(self) -> None:
        if self._pidfd >= 0:
            processes.freeze_tree(self._pid, self._pidfd)

    def code(self) -> int:
        self.take_reports()
        if self._rc is not None:
            return self._rc
        ending = self._host.ending_of(self.order.prepared.request.run_id, _ENDING_TIMEOUT_S)
        if ending is None:
            # The host ends what a killed run left before it reports; this one is dead, or hangs.
            kill_found(MarkedRun.of(self.order.prepared.request.run_id, self.order.env).processes)
            return -signal.SIGKILL
        self.cpu_s = ending.cpu_s
        if ending.code >= 0 and self._stop.asked:
            return -signal.SIGKILL
        return ending.code  # where it left without a word, but by itself, too

    def abandon(self) -> None:
        """Let nothing of the run go on: it cannot be followed, so it would act unseen.

        From now on no child can begin it. One that has begun is ended with all below it, here as far as
        there are descriptors to look for them, by the host where there are none.
        """
        with contextlib.suppress(OSError):
            self._refuse_late_begin()
        if self._pidfd >= 0:
            self.end()
            readable([self._pidfd], _KILLED_TIMEOUT_S)
        elif self._pid and _leads_its_session(self._pid):
            processes.kill_tree(self._pid)

    def _host_is_at_work(self) -> bool:
        """Wait for a word; False where the host hangs. One that begins others' runs is only busy."""
        wait_s = _BEGIN_TIMEOUT_S
        while wait_s > 0:
            if readable([self._socket.fileno()], wait_s):
                return True
            wait_s = self._host.last_begun + _BEGIN_TIMEOUT_S - self._clock.monotonic()
        return False

    def _refuse_late_begin(self) -> None:
        """From now on no child can begin, since its first report would fail.

        Raises where one has begun: its next report fails, so it cannot be followed.
        """
        self._socket.shutdown(socket.SHUT_RD)
        while self._pid == 0 and self._take_report():
            pass
        if self._pid:
            raise OSError(errno.ETIMEDOUT, "the run began too late")

    def _take_report(self) -> bool:
        received = wire.read_report(self._socket)
        if received is None:
            return False
        message, fds = received
        match message.get("r"):
            case "begin" if not self._pid:  # a play may say it again, of another process
                self._pid = int(message["pid"])
                self._pidfd = fds.pop() if fds else -1
            case "event":
                del message["r"]
                self.on_event(message)
            case "task":
                self.notes.tasks.append(message)
            case "used":
                self.notes.take_use(message)
            case "module":
                self.notes.modules.append(message)
            case "waits" | "wants" | "stands" as what:
                self._take_word_of_slot(what, message)
            case "end":
                self._rc, self.notes.crash = message["rc"], message.get("crash", "")
                self.cpu_s = message.get("cpu_s")
        for fd in fds:
            os.close(fd)
        return True

    def _take_word_of_slot(self, what: str, message: dict[str, Any]) -> None:
        match what:
            case "waits":
                self.on_wait()
            case "wants":
                number = int(message["number"])
                self._line.asks(number)
                self.on_want(lambda: self._give_slot(number))
            case "stands":
                self._line.stops()

    def _give_slot(self, number: int) -> None:
        self._line.is_given(number)
        self._stop.look()
        with contextlib.suppress(OSError):  # the run has ended meanwhile
            self._socket.send(str(number).encode())


def _leads_its_session(pid: int) -> bool:
    """Whether this may be a run child: each begins with a session of its own. Takes no descriptor."""
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False
