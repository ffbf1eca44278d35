"""What the engine finds where it was started: the project's watches, and what the machine grants."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rolecall.capacity import (
    ENGINE_BYTES,
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    read_capacity,
    runs_within,
)
from rolecall.log_fields import log_fields
from rolecall.settings import RunnerSettings, Settings
from rolecall.watches import (
    Watch,
    WatchDefaults,
    collection_faults,
    load_watches,
    search_paths,
)
from rolecall.workqueue import Limits

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
    seen = _seen(settings, environment)
    watches, warnings = load_watches(settings.watches_file, seen, defaults, Path.cwd())
    for warning in warnings:
        _logger.warning("%s", warning)
    return watches


def with_search_paths(
    settings: Settings, environment: Mapping[str, str], watches: Sequence[Watch]
) -> RunnerSettings:
    """The runner's settings with what plays must be told of where to look.

    Says what holds, and which collections plays will not find there.
    """
    project = (Path.cwd() / settings.watches_file).parent
    found = search_paths(_seen(settings, environment), Path.cwd(), project)
    _logger.info(
        "search paths",
        extra=log_fields(roles=found.roles.shown(), collections=found.collections.shown()),
    )
    plays = [play for watch in watches for play in watch.plays]
    faults = collection_faults(project, plays, found.collections, sys.path)
    for fault in (*faults.missing, *faults.broken):
        _logger.warning("%s", fault)
    return replace(
        settings.runner,
        roles_path=found.roles.setting,
        collections_path=found.collections.setting,
    )


def _seen(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What flags say about paths goes before what the environment says."""
    paths = {
        "ANSIBLE_ROLES_PATH": settings.runner.roles_path,
        "ANSIBLE_COLLECTIONS_PATH": settings.runner.collections_path,
    }
    return {**environment, **{name: path for name, path in paths.items() if path}}


def memory_for_runs(settings: Settings) -> int | None:
    """What runs in flight may take together; None where somebody set their number."""
    if settings.queue.max_runs:
        return None
    return max(0, read_capacity().memory_bytes - ENGINE_BYTES)


def limits_for(
    settings: Settings, watches: list[Watch], run_bytes: Callable[[Watch], int]
) -> Limits:
    """How many runs may be in flight, of each kind and together.

    Their number follows from the cheapest way that any of them may go, and so from the CPUs; how many
    the memory really takes, from `run_bytes`: what a run of a watch would take if it began now.
    """
    ways = {watch.runner or settings.runner.way for watch in watches}
    cheapest = WARM_RUN_BYTES if "warm" in ways else STOCK_RUN_BYTES
    by_gvk = {watch.gvk: watch for watch in watches}
    return Limits(
        settings.queue.max_runs or runs_within(read_capacity(), cheapest),
        {watch.gvk: watch.max_concurrent_reconciles for watch in watches},
        settings.runner.memory_bytes,
        lambda gvk: run_bytes(by_gvk[gvk]),
    )
