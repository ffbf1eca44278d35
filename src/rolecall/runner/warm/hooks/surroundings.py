"""What a task or a module may change of the process, and finds unchanged when the next one begins."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from rolecall.runner.warm.hooks.client_memory import client_kept


@contextlib.contextmanager
def surroundings_kept() -> Iterator[None]:
    """Put environment, folder, umask and the Kubernetes client's settings back afterwards."""
    environment, folder = dict(os.environ), os.getcwd()  # noqa: PTH109 - a string to go back to
    umask = os.umask(0o077)
    os.umask(umask)
    try:
        with client_kept():
            yield
    finally:
        os.umask(umask)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            os.chdir(folder)
