"""A host has one thread, and so must a test that plays host; a worker of pytest has one more."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall_warm import forking

_ONE_THREAD = forking._OWN_LINKS


@pytest.fixture(autouse=True)
def worker_counts_as_one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The thread that brings a worker its tests holds no lock that a fork needs.

    In a fork it is gone, so there the host's own rule holds again.
    """
    with warnings.catch_warnings():
        if "PYTEST_XDIST_WORKER" in os.environ:
            extra = Path("/proc/self/task").stat().st_nlink - _ONE_THREAD - 1
            monkeypatch.setattr(forking, "_OWN_LINKS", _ONE_THREAD + extra)
            # Python 3.12 and later.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded")
        yield


def _in_child() -> None:
    forking._OWN_LINKS = _ONE_THREAD


os.register_at_fork(after_in_child=_in_child)
