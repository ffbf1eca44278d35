"""From start to end of an engine: what it finds, its listeners, and how its parts end."""

from rolecall.lifecycle.lifetime import Stop, run_parts, signals_asking, take_signals
from rolecall.lifecycle.listeners import Listeners
from rolecall.lifecycle.operation import drain, open_engine, running
from rolecall.lifecycle.parts import EngineBase, EngineParts, PlayParts
from rolecall.lifecycle.startup import (
    engine_metrics,
    files_of,
    limits_for,
    most_runs,
    project_of,
    settled,
    watches_of,
    with_search_paths,
)
from rolecall.lifecycle.warm_state import WarmStateReport, find_own_pod

__all__ = [
    "EngineBase",
    "EngineParts",
    "Listeners",
    "PlayParts",
    "Stop",
    "WarmStateReport",
    "drain",
    "engine_metrics",
    "files_of",
    "find_own_pod",
    "limits_for",
    "most_runs",
    "open_engine",
    "project_of",
    "run_parts",
    "running",
    "settled",
    "signals_asking",
    "take_signals",
    "watches_of",
    "with_search_paths",
]
