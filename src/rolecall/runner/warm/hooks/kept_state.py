"""What a task or a module may change of the process, and finds unchanged when the next one begins."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from rolecall.runner.warm.hooks.client_memory import client_kept


@contextlib.contextmanager
def process_state_kept() -> Iterator[None]:
    """Put environment, folder, umask and the Kubernetes client's settings back afterwards."""
    environment, folder = dict(os.environ), os.getcwd()  # noqa: PTH109 - a string to go back to
    umask = os.umask(0o077)
    os.umask(umask)
    try:
        with client_kept(), _notes_kept():
            yield
    finally:
        os.umask(umask)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            os.chdir(folder)


@contextlib.contextmanager
def _notes_kept() -> Iterator[None]:
    """What reading a setting left to be told later: a worker takes that along when it ends."""
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
