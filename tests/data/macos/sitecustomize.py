"""Makes a Python believe that it runs on macOS, as far as we may notice: see `tests/fixtures/macos.py`.

Gone are /proc and /sys, and what only Linux has in the modules of the standard library.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from typing import Any

sys.platform = "darwin"
_GONE: dict[Any, tuple[str, ...]] = {
    os: ("pidfd_open", "pipe2", "sched_getaffinity", "sched_yield", "memfd_create", "splice"),
    signal: ("pidfd_send_signal", "sigtimedwait", "SIGRTMIN"),
    socket: ("SOCK_SEQPACKET", "SO_PEERCRED", "SOCK_CLOEXEC"),
    select: ("epoll",),
}
for _module, _names in _GONE.items():
    for _name in _names:
        if hasattr(_module, _name):
            delattr(_module, _name)

_stat = os.stat


def _is_hidden(path: object) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    return os.fsencode(path).startswith((b"/proc", b"/sys"))


def _hidden_stat(path: Any, *arguments: Any, **options: Any) -> Any:
    if _is_hidden(path):
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    return _stat(path, *arguments, **options)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and _is_hidden(arguments[0]):
        raise FileNotFoundError(2, "No such file or directory", os.fspath(arguments[0]))


os.stat = _hidden_stat
sys.addaudithook(_audit)
