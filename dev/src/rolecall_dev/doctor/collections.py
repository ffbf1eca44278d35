"""Whether plays find the collections that requirements.yml and tasks name."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from rolecall.watches import collection_faults, search_paths
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings


async def look_at_collections(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each that is missing, half installed, or of another version."""
    return await asyncio.to_thread(_look, surroundings)


def _look(surroundings: Surroundings) -> list[Diagnosis]:
    project = surroundings.project
    search = search_paths(surroundings.environment, Path.cwd(), project).collections
    plays = [play for watch in surroundings.watches for play in watch.plays]
    faults = collection_faults(project, plays, search, sys.path)
    seen = [
        to_do(f"{fault.file}:{fault.line}: {fault.what}" if fault.line else fault.what, fault.hint)
        for fault in (*faults.missing, *faults.broken)
    ]
    return seen or [done("those that are needed are installed")]
