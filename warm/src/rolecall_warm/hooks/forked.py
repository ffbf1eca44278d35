"""Runs a module in one fork of the run child: warm imports, but a process of its own.

The fork is made to look like a fresh interpreter: default signal handlers, no descriptors but three,
the C locale but for characters, no exit handlers of others. The parent waits as it would for a shell:
until both pipes are closed, so a module that leaves something behind holds the play as it always did.
"""

from __future__ import annotations

import atexit
import contextlib
import locale
import os
import selectors
import signal
import sys
from typing import NoReturn

from rolecall_warm.hooks.endings import end_like_an_interpreter
from rolecall_warm.hooks.module_process import (
    ModuleCall,
    ModuleProcess,
    Response,
    in_environment,
)
from rolecall_warm.hooks.quiet import ModuleLook
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.waits import RunWaits

_HANDLED = (signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR1)
_PIECE = 64 * 1024


def run_forked(process: ModuleProcess, call: ModuleCall, waits: RunWaits) -> Response:
    """Run the module and come back with what it printed."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        waits.be_module()
        _be_module(process, call, out_write, err_write)
    os.close(out_write)
    os.close(err_write)
    out, err = _read_both(out_read, err_read, ModuleLook(waits, pid))
    _pid, status = os.waitpid(pid, 0)
    rc, complaint = _as_shell(status)
    return Response(rc, _text(out), _text(err) + complaint)


def _read_both(out_fd: int, err_fd: int, looked: ModuleLook) -> tuple[bytes, bytes]:
    pieces: dict[int, list[bytes]] = {out_fd: [], err_fd: []}
    with selectors.DefaultSelector() as selector:
        for fd in pieces:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _events in selector.select(looked.every_s):
                piece = os.read(key.fd, _PIECE)
                if piece:
                    pieces[key.fd].append(piece)
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
            looked.look()
    return b"".join(pieces[out_fd]), b"".join(pieces[err_fd])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _as_shell(status: int) -> tuple[int, str]:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code, ""
    name = signal.strsignal(-code) or f"Signal {-code}"
    dumped = " (core dumped)" if os.WCOREDUMP(status) else ""
    return 128 - code, f"{name}{dumped}\n"


def _be_module(process: ModuleProcess, call: ModuleCall, out_fd: int, err_fd: int) -> NoReturn:
    status = 1
    try:
        _look_fresh(out_fd, err_fd, process.streams)
        in_environment(call)
        with process.entered(call):
            status = process.execute(call)
        process.imports.write()
        end_like_an_interpreter()
    except BaseException as error:  # whatever it is, it must not climb into the play's code
        with contextlib.suppress(Exception):
            print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - its stderr
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _look_fresh(out_fd: int, err_fd: int, streams: StreamSettings) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for number, fd in ((0, null), (1, out_fd), (2, err_fd)):
        os.dup2(fd, number)
    os.closerange(3, 1 << 16)
    for number in _HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    locale.setlocale(locale.LC_ALL, "C")
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "")
    atexit._clear()
    streams.open_all()
