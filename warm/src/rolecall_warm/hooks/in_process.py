"""Runs a module in the run child itself: for the few that were read and leave nothing behind.

Put back afterwards: streams, environment, folder, umask. Exit handlers that the module registered run
when it ends, but those of the Kubernetes client, whose certificates the next module will want: they run
when the run ends.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rolecall_warm.hooks.kept_state import process_state_kept
from rolecall_warm.hooks.module_process import (
    ModuleCall,
    ModuleProcess,
    Response,
    in_environment,
)


def run_in_process(process: ModuleProcess, call: ModuleCall) -> Response:
    """Run the module and come back with what it printed."""
    out, err = _stream(), _stream()
    with _streams(out, err), process_state_kept(), process.entered(call), _exit_handlers_run():
        in_environment(call)
        status = process.execute(call)
    return Response(status, _text_of(out), _text_of(err))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _streams(out: io.TextIOWrapper, err: io.TextIOWrapper) -> Iterator[None]:
    before = (sys.stdin, sys.stdout, sys.stderr)
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _exit_handlers_run() -> Iterator[None]:
    handlers: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def register(handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        if getattr(handler, "__module__", "").startswith("kubernetes."):
            return before(handler, *args, **kwargs)
        handlers.append((handler, args, kwargs))
        return handler

    before = atexit.register
    atexit.register = register  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = before
        for handler, args, kwargs in reversed(handlers):
            with contextlib.suppress(Exception):  # as the interpreter: one failing hinders no other
                handler(*args, **kwargs)
