"""What a task or a module may change of the process, and finds unchanged when the next one begins."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from rolecall_warm.hooks.client_memory import client_kept


@contextlib.contextmanager
def process_state_kept() -> Iterator[None]:
    """Put environment, folder, umask and the Kubernetes client's settings back afterwards."""
    environment, folder = dict(environment_now()), os.getcwd()  # noqa: PTH109 - a string to go back to
    umask = os.umask(0o077)
    os.umask(umask)
    try:
        with client_kept(), _notes_kept():
            yield
    finally:
        os.umask(umask)
        _put_back(environment)
        with contextlib.suppress(OSError):
            os.chdir(folder)


def environment_now() -> dict[bytes, bytes]:
    """The environment as `os.environ` holds it: decoding it all twice a task costs more than a task."""
    variables: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    return variables


def _put_back(environment: dict[bytes, bytes]) -> None:
    now = environment_now()
    if now == environment:
        return
    for name in now.keys() - environment.keys():
        del os.environb[name]
    for name, value in environment.items() - now.items():
        os.environb[name] = value


@contextlib.contextmanager
def _notes_kept() -> Iterator[None]:
    """What reading a setting left to be logged later: a worker takes it along when it ends."""
    config = getattr(sys.modules.get("ansible.constants"), "config", None)
    if config is None:
        yield
        return
    deprecated, warnings = list(config.DEPRECATED), set(config.WARNINGS)
    try:
        yield
    finally:
        config.DEPRECATED[:] = deprecated
        config.WARNINGS.clear()
        config.WARNINGS.update(warnings)
