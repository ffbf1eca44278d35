"""A fork that stands by while nothing runs: the next order finds a run child that is there already.

Forking, and copying the pages that every play writes to, takes longer than some plays. The understudy
has done both when its order comes. It has run nothing, so the run is as any other; it is an offer, too:
one that died, or is not there yet, means that the host forks as always. The order goes to it with its
descriptors, so if it dies before its first word, the engine sees that nobody has the order.

It costs the memory that a run needs, so it goes when no order comes for a while. Under load there is
none: it is forked when the last run has ended and the host has had nothing to do for a moment.
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

from rolecall.runner.warm import processes, wire
from rolecall.runner.warm.host.hot_pages import Range, have_ready

# What is to come next in a burst comes sooner than this.
STANDS_BY_AFTER_S = 0.03
# After a minute without a run, memory is worth more than some milliseconds.
GOES_AFTER_S = 60.0
_FIRST_FREE_DESCRIPTOR = 3
_READY = b"r"

# What plays: takes the order and its descriptors, and never comes back.
Begin = Callable[[wire.Message, list[int]], NoReturn]


@dataclass
class Understudy:
    """The host's end of a fork that stands by."""

    pid: int
    sock: socket.socket
    since: float

    @classmethod
    def engage(cls, hot_pages: list[Range], begin: Begin) -> Understudy:
        """Fork one."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            _stand_by(theirs, hot_pages, begin)
        theirs.close()
        return cls(pid, ours, time.monotonic())

    def take_over(self, order: wire.Message, fds: list[int]) -> bool:
        """Hand it the order; False where it is not ready yet, or not there any more."""
        try:
            # Waiting until it has all pages would take longer than forking anew.
            self.sock.recv(1, socket.MSG_DONTWAIT)
            wire.send(self.sock, order, fds)
        except OSError:
            self.dismiss()
            return False
        self.sock.close()
        return True

    def mourn(self) -> None:
        """It died, and was reaped."""
        self.sock.close()

    def dismiss(self) -> None:
        """Let it go; it ends by itself, and is reaped like any child."""
        self.sock.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _stand_by(host: socket.socket, hot_pages: list[Range], begin: Begin) -> NoReturn:
    status = 0
    try:
        os.closerange(_FIRST_FREE_DESCRIPTOR, host.fileno())
        os.closerange(host.fileno() + 1, 1 << 16)
        have_ready(hot_pages)
        processes.set_name("rolecall-next")
        host.send(_READY)
        received = wire.receive(host)
        if received is not None:  # else the host is gone, or has no need of us
            host.close()
            begin(*received)
    except (
        BaseException
    ):  # nothing may climb into the host's loop; the engine sees that nobody began
        status = 250
    finally:
        os._exit(status)
