"""What the engine finds where it was started: the project's watches, and what the machine grants."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from pathlib import Path

from rolecall.settings import RunnerSettings, Settings
from rolecall.watches import Watch, WatchDefaults, load_watches
from rolecall.workqueue import (
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    Limits,
    read_capacity,
    runs_within,
)

_logger = logging.getLogger(__name__)


def watches_of(settings: Settings, environment: Mapping[str, str]) -> list[Watch]:
    """The checked entries of watches.yaml; raises `ProblemsError` with all that is wrong with it."""
    wanted = settings.watches
    defaults = WatchDefaults(
        reconcile_period_s=wanted.reconcile_period_s,
        max_concurrent_reconciles=wanted.max_concurrent_reconciles
        or math.ceil(read_capacity().cpus),
        verbosity=wanted.verbosity,
    )
    seen = {**environment, **_paths(settings.runner)}
    watches, warnings = load_watches(settings.watches_file, seen, defaults, Path.cwd())
    for warning in warnings:
        _logger.warning("%s", warning)
    return watches


def _paths(settings: RunnerSettings) -> dict[str, str]:
    """What flags say about paths goes before what the environment says."""
    paths = {
        "ANSIBLE_ROLES_PATH": settings.roles_path,
        "ANSIBLE_COLLECTIONS_PATH": settings.collections_path,
    }
    return {name: path for name, path in paths.items() if path}


def limits_for(settings: Settings, watches: list[Watch]) -> Limits:
    """How many runs may be in flight, of each kind and together."""
    run_bytes = WARM_RUN_BYTES if settings.runner.way == "warm" else STOCK_RUN_BYTES
    max_runs = settings.queue.max_runs or runs_within(read_capacity(), run_bytes)
    return Limits(max_runs, {watch.gvk: watch.max_concurrent_reconciles for watch in watches})
