"""Tries something in a fork of the host, for nobody, and hears what came of it.

What may end a process, start a thread or leave something behind does so there. It costs warmth when it
fails, not a run; and it stops at once when the engine says something.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable
from typing import NoReturn

from rolecall.runner.warm import processes

# What is tried; it tells what it finds on the descriptor.
Tried = Callable[[int], object]


class Interrupted(Exception):  # noqa: N818 - no error: there is something better to do
    """An order came."""


def told_by_fork(tried: Tried, engine: socket.socket, patience_s: float) -> bytes:
    """What the fork told until it ended, or until our patience did."""
    told, telling = os.pipe()
    pid = os.fork()
    if pid == 0:
        _try(tried, telling)
    os.close(telling)
    try:
        return _heard(told, engine, patience_s)
    finally:
        os.close(told)
        processes.kill_tree(pid)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _heard(told: int, engine: socket.socket, patience_s: float) -> bytes:
    text = b""
    while ready := select.select([told, engine.fileno()], [], [], patience_s)[0]:
        if engine.fileno() in ready:
            raise Interrupted
        piece = os.read(told, 1 << 16)
        if not piece:
            break
        text += piece
    return text


def _try(tried: Tried, telling: int) -> NoReturn:
    try:
        os.setsid()
        processes.wake_when_parent_dies()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        tried(telling)
    finally:
        os._exit(0)
