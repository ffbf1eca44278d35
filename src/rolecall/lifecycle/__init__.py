"""From start to end of an engine: what it finds, its listeners, and how its parts end."""

from rolecall.lifecycle.lifetime import Stop, run_parts, signals_asking, take_signals
from rolecall.lifecycle.listeners import Listeners
from rolecall.lifecycle.startup import (
    files_of,
    limits_for,
    memory_for_runs,
    project_of,
    watches_of,
    with_search_paths,
)
from rolecall.lifecycle.warm_state import WarmStateReport, find_own_pod

__all__ = [
    "Listeners",
    "Stop",
    "WarmStateReport",
    "files_of",
    "find_own_pod",
    "limits_for",
    "memory_for_runs",
    "project_of",
    "run_parts",
    "signals_asking",
    "take_signals",
    "watches_of",
    "with_search_paths",
]
