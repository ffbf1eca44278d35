"""Does something in a fork of the host, and takes what it says.

What may end a process, start a thread or leave something behind does so there. It stops at once when
the engine says something.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from typing import NoReturn

from rolecall_base import processes
from rolecall_base.polling import readable
from rolecall_warm.forking import fork

# What is done; it says what it finds on the descriptor.
Work = Callable[[int], object]


class Interrupted(Exception):  # noqa: N818 - no error: there is something better to do
    """An order came."""


def output_of_fork(work: Work, engine: socket.socket, silence_s: float) -> bytes:
    """What the fork wrote, until it ended or wrote nothing for `silence_s`."""
    said, saying = os.pipe()
    try:
        pid = fork()
    except BaseException:
        os.close(said)
        os.close(saying)
        raise
    if pid == 0:
        _do(work, saying)
    os.close(saying)
    try:
        return _read(said, engine, silence_s)
    finally:
        os.close(said)
        processes.kill_tree(pid)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _read(said: int, engine: socket.socket, silence_s: float) -> bytes:
    text = b""
    while ready := readable([said, engine.fileno()], silence_s):
        if engine.fileno() in ready:
            raise Interrupted
        piece = os.read(said, 1 << 16)
        if not piece:
            break
        text += piece
    return text


def _do(work: Work, saying: int) -> NoReturn:
    try:
        os.setsid()
        processes.wake_when_parent_dies()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        work(saying)
    finally:
        os._exit(0)
