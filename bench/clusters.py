"""Where a bench takes its cluster from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rolecall.localcluster import Wanted, bring_up, find_binaries, take_down


@contextmanager
def given_or_own(kubeconfig: Path | None, name: str) -> Iterator[Path]:
    """The given cluster, or one of our own for as long as it takes."""
    if kubeconfig is not None:
        yield kubeconfig
        return
    own = bring_up(Wanted(name=name, kept=False), find_binaries().require())
    try:
        yield own.kubeconfig
    finally:
        take_down(own.layout)
        own.let_go()
