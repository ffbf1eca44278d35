"""What the page needs of an engine; `app.py` connects it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rolecall.extending import EnginePorts, LastRuns
from rolecall.kube import Client
from rolecall.record import RequestsSoFar
from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class PagePorts:
    engine: EnginePorts
    last_runs: LastRuns
    root: Path  # of the artifacts
    own: Client  # the engine's: for access reviews, and for readers on its machine
    client_as: Callable[[str], Client]  # one that has this token, for the same API server
    # Of the CR's run in flight; None where there is none, or none is recorded.
    requests_so_far: Callable[[Key], RequestsSoFar | None] = lambda _key: None
