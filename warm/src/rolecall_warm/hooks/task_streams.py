"""The process's standard streams, and whether the play or a task has them.

On the play's turn everything is real. On a task's turn they are as in a worker that Ansible forks; and
Display hands its words to the play.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing.process
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Streams = tuple[Any, Any, Any]


class TaskStreams:
    """Takes the streams from play to task and back."""

    def __init__(self, display: Any, *, detaches: bool) -> None:
        """`detaches`: whether this ansible-core takes the play's descriptors away from its workers."""
        self._display = display
        self._detaches = detaches
        self._real = tuple(os.dup(number) for number in (0, 1, 2))
        self._null = os.open(os.devnull, os.O_RDWR)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._parent_mark: Any = object()

    @contextlib.contextmanager
    def task(self, queue: Any) -> Iterator[tuple[io.StringIO, io.StringIO]]:
        """Take the streams away from a task; yields where its prints went."""
        caught = (io.StringIO(), io.StringIO())
        streams = _closed_and(caught) if self._detaches else self._attached()
        self._enter_task(queue, streams)
        try:
            yield caught
        finally:
            self._enter_play()
            if not self._detaches:
                _end_attached(streams)

    @contextlib.contextmanager
    def play(self) -> Iterator[None]:
        """Give the streams back while a callback of the running task is served."""
        queue, streams = self._display._final_q, (sys.stdin, sys.stdout, sys.stderr)
        self._enter_play()
        try:
            yield
        finally:
            self._enter_task(queue, streams)

    def _enter_task(self, queue: Any, streams: Streams) -> None:
        sys.stdin, sys.stdout, sys.stderr = streams
        if self._detaches:
            for number in (0, 1, 2):
                os.dup2(self._null, number)  # inheritable: what a task starts has streams, too
        self._display._final_q = queue
        # By `parent_process()`, Display and callbacks distinguish a worker from the play.
        multiprocessing.process._parent_process = self._parent_mark  # type: ignore[attr-defined]

    def _enter_play(self) -> None:
        if self._detaches:
            for number, real in enumerate(self._real):
                os.dup2(real, number, inheritable=False)
        sys.stdin, sys.stdout, sys.stderr = self._streams
        self._display._final_q = None
        multiprocessing.process._parent_process = None  # type: ignore[attr-defined]

    def _attached(self) -> Streams:
        """The play's output in a buffer of the task's own: what it does not flush is lost."""
        return Path(os.devnull).open(), own_output(self._streams[1]), self._streams[2]


def own_output(like: Any) -> io.TextIOWrapper:
    """A standard output of a task's own where tasks keep the play's descriptor."""
    output: Any = _TaskOutput()
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    return io.TextIOWrapper(
        output if is_unbuffered else io.BufferedWriter(output),
        encoding=like.encoding,
        errors=like.errors,
        write_through=is_unbuffered,
    )


class _TaskOutput(io.FileIO):
    """Descriptor 1, until the task is over."""

    def __init__(self) -> None:
        super().__init__(1, "w", closefd=False)
        self.is_over = False

    def write(self, data: Any, /) -> int:
        """Write; nowhere once the task is over."""
        return len(data) if self.is_over else super().write(data)


def _closed_and(caught: tuple[io.StringIO, io.StringIO]) -> Streams:
    closed = io.StringIO()
    closed.close()
    return (closed, *caught)


def _end_attached(streams: Streams) -> None:
    stdin, stdout, _stderr = streams
    stdin.close()
    output = getattr(stdout.buffer, "raw", stdout.buffer)
    if isinstance(output, _TaskOutput):
        output.is_over = True
