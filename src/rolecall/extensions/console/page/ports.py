"""What the page needs of an engine; `app.py` connects it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rolecall.extending import EnginePorts, LastRuns
from rolecall.kube import Client


@dataclass(frozen=True, slots=True)
class PagePorts:
    engine: EnginePorts
    last_runs: LastRuns
    root: Path  # of the artifacts
    own: Client  # the engine's: for access reviews, and for readers on its machine
    client_as: Callable[[str], Client]  # one that has this token, for the same API server
