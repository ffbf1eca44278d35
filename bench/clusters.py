"""Where a bench takes its cluster from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rolecall_dev.localcluster import Wanted, find_binaries, temporary_cluster


@contextmanager
def given_or_own(kubeconfig: Path | None, name: str) -> Iterator[Path]:
    """The given cluster, or one of our own for as long as it takes."""
    if kubeconfig is not None:
        yield kubeconfig
        return
    with temporary_cluster(Wanted(name=name), find_binaries().require()) as own:
        yield own.kubeconfig
