"""Reports to the engine when the run waits, and takes a slot again before the run goes on.

A run that sleeps needs no CPU: others may compute meanwhile. What waits is seen where it waits:
`time.sleep` in the run child, in its workers and in forks of modules, and a fork of a module that uses
no CPU (`quiet`). A slot is asked back as soon as the run computes again, and the run stops until it has
one, but never inside of a module: a module's own time limit goes on, and would end what is well.

Rejected: watching the run's CPU time from outside, which sees each wait a second late, and cannot stop
a run before its next task.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from rolecall_base.wire import report

# Sleeps of less cost more to report than others could make of them.
_WORTH_S = 0.5
# Where `until`, `loop_control.pause` and `poll` sleep: between two attempts, where no time limit runs.
_BETWEEN_ATTEMPTS = "ansible.executor.task_executor"
# Places in the page that all processes of a run see; the last is the number of the last request.
_REPORTED, _ASKED, _SLEEPS, _NUMBER = 0, 1, 2, 8
_COUNTER = struct.Struct("q")
_LONGEST_ANSWER = 32


class RunWaits:
    """What the processes of one run know of its slot."""

    def __init__(self) -> None:
        self._sleep = time.sleep
        self._sock: socket.socket | None = None
        self._thread = 0
        self._page: mmap.mmap | None = None
        self._is_alone = True
        self._is_module = False

    def stand_in(self) -> None:
        """Have all sleeps come by here; before anything takes `sleep` by name."""

        @functools.wraps(self._sleep)
        def sleep(seconds: Any, /) -> None:
            self._sleeps(seconds, sys._getframe(1).f_globals.get("__name__"))

        time.sleep = sleep

    def report_to(self, sock: socket.socket) -> None:
        """This run has a slot, which it may leave."""
        with contextlib.suppress(OSError):  # no memory for one page: it keeps its slot
            self._page = mmap.mmap(-1, mmap.PAGESIZE)
            self._sock, self._thread = sock, threading.get_ident()

    def task_begins(self, *, is_alone: bool) -> None:
        """Take a slot for it. Of several tasks at once, one that sleeps says nothing of the others."""
        self.go_on()
        self._is_alone = is_alone

    def be_module(self) -> None:
        """This process is a fork for a module: it has no socket, and others look after its sleep."""
        self._sock, self._is_module = None, True
        if self._page is not None:
            self._page[_SLEEPS] = 0  # the one before may have been killed in its sleep

    def wait(self) -> None:
        """The run waits from now on."""
        page = self._page
        if self._sock is None or page is None or not self._is_alone:
            return
        if not page[_REPORTED] or page[_ASKED]:
            page[_REPORTED], page[_ASKED] = 1, 0
            self._say(self._sock, {"r": "waits"})

    def ask(self) -> None:
        """The run computes again, where nothing may stop it: it takes a slot as soon as it can."""
        page = self._page
        if self._sock is None or page is None or not page[_REPORTED] or page[_ASKED]:
            return
        page[_ASKED] = 1
        (last,) = _COUNTER.unpack_from(page, _NUMBER)
        _COUNTER.pack_into(page, _NUMBER, last + 1)
        self._say(self._sock, {"r": "wants", "number": last + 1})

    def go_on(self) -> None:
        """Stop here until the run has a slot."""
        page = self._page
        if self._sock is None or page is None or not page[_REPORTED]:
            return
        self.ask()
        self._say(self._sock, {"r": "stands"})
        self._wait_for_slot(self._sock, page)
        page[_REPORTED] = page[_ASKED] = 0

    @contextlib.contextmanager
    def module(self, action: Any) -> Iterator[None]:
        """Of a call of a module; what comes after it has a slot, unless `timeout` goes on there."""
        yield
        if not action._task.timeout:
            self.go_on()

    @property
    def module_sleeps(self) -> bool:
        """Whether a fork for a module says so."""
        return self._page is not None and bool(self._page[_SLEEPS])

    @property
    def is_looked_for(self) -> bool:
        """Whether it is of use to know that a module waits."""
        return self._sock is not None and self._is_alone

    def _sleeps(self, seconds: Any, caller: str | None) -> None:
        if not self._is_worth(seconds) or threading.get_ident() != self._thread:
            self._sleep(seconds)
        elif self._is_module:
            with self._module_asleep():
                self._sleep(seconds)
        else:
            self.wait()
            self._sleep(seconds)
            if caller == _BETWEEN_ATTEMPTS:
                self.go_on()

    def _is_worth(self, seconds: Any) -> bool:
        # What is no number is the original's to refuse.
        return self._page is not None and isinstance(seconds, int | float) and seconds >= _WORTH_S

    @contextlib.contextmanager
    def _module_asleep(self) -> Iterator[None]:
        assert self._page is not None
        self._page[_SLEEPS] = 1
        try:
            yield
        finally:
            self._page[_SLEEPS] = 0

    @staticmethod
    def _wait_for_slot(sock: socket.socket, page: mmap.mmap) -> None:
        """Until the last request is answered; an answer to one before it is none."""
        (asked,) = _COUNTER.unpack_from(page, _NUMBER)
        with contextlib.suppress(OSError):
            # Nothing comes where the engine is gone: the next report will show it.
            while (answer := sock.recv(_LONGEST_ANSWER)) and int(answer) != asked:
                pass

    @staticmethod
    def _say(sock: socket.socket, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the engine is gone, which the tally finds out
            report(sock, message)
