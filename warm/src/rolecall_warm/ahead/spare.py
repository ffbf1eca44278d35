"""A spare process: a fork that waits while nothing runs, and is ready when the next order comes.

Forking, and copying the pages that every play writes to, takes longer than some plays. The spare
process has done both when its order comes. It has run nothing, so the run is as any other; one that
died, or is not there yet, means that the host forks as always. The order goes to it with its
descriptors, so if it dies before its first word, the engine sees that no process has the order.

It holds the memory that a run needs, so it goes when no order comes for a while. Under load there is
none: it is forked when the last run has ended and the host has had nothing to do for a moment.

Rejected: to fork the next one at once, also while others run. With two and four runs at a time on two
cores, the host and its runs took 10 and 18 % more CPU (means of three rounds of 40 one-task runs, on a
machine that was busy otherwise): it copies some 6,200 pages where a run writes to 4,700.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from rolecall_base import processes, wire
from rolecall_warm.ahead.pages import Range, copy_now
from rolecall_warm.forking import fork

# Orders of a burst come sooner than this.
SPARE_AFTER_S = 0.03
# After a minute without a run, memory is worth more than some milliseconds.
SPARE_FOR_S = 60.0
_FIRST_FREE_DESCRIPTOR = 3

# What plays: takes the order and its descriptors, and never comes back.
Begin = Callable[[wire.Message, list[int]], NoReturn]


@dataclass
class SpareProcess:
    """The host's end of it."""

    pid: int
    sock: socket.socket
    since: float

    @classmethod
    def fork(cls, pages: list[Range], begin: Begin) -> SpareProcess:
        ours, theirs = socket.socketpair()
        try:
            pid = fork()
        except BaseException:
            ours.close()
            theirs.close()
            raise
        if pid == 0:
            _wait_for_order(theirs, pages, begin)
        theirs.close()
        return cls(pid, ours, time.monotonic())

    def hand_over(self, order: wire.Message, fds: list[int]) -> bool:
        """Give it the order; False where it is not ready yet, or not there any more."""
        try:
            # Not waited for: a new fork is faster than copying all pages.
            self.sock.recv(1, socket.MSG_DONTWAIT)
            wire.send(self.sock, order, fds)
        except OSError:
            self.end()
            return False
        self.sock.close()
        return True

    def end(self) -> None:
        """It is reaped like any child."""
        self.sock.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _wait_for_order(host: socket.socket, pages: list[Range], begin: Begin) -> NoReturn:
    status = 0
    try:
        os.closerange(_FIRST_FREE_DESCRIPTOR, host.fileno())
        os.closerange(host.fileno() + 1, 1 << 16)
        copy_now(pages)
        host.send(b"r")
        processes.set_name("rolecall-spare")  # readers of the name may rely on the copied pages
        received = wire.receive(host)
        if received is not None:  # else the host is gone, or has no need of us
            host.close()
            begin(*received)
    except BaseException:  # not into the host's loop; the engine sees that no run began
        status = 250
    finally:
        os._exit(status)
