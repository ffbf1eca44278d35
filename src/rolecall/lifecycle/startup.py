"""What the engine finds where it was started: the project's watches, and what the machine grants."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from rolecall import __version__
from rolecall.extending import extension_classes, extension_metrics, watch_keys
from rolecall.kube import Client, Credentials, cluster_id
from rolecall.log_fields import log_fields
from rolecall.metrics import EngineMetrics
from rolecall.runner import claimed_root, folder_of_engine
from rolecall.settings import (
    ENGINE_BYTES,
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    Settings,
    read_capacity,
    runs_within,
    waiting_within,
)
from rolecall.watches import (
    Watch,
    WatchDefaults,
    collection_faults,
    load_watches,
    search_paths,
)
from rolecall.workqueue import Limits

_logger = logging.getLogger(__name__)


def project_of(settings: Settings, environment: Mapping[str, str]) -> list[Watch]:
    """The watches, with all files checked that are read at the start; raises `ProblemsError`."""
    watches = watches_of(settings, environment)
    for extension in extension_classes():
        extension.check(settings)
    return watches


def files_of(settings: Settings) -> dict[str, Path]:
    """The files that are read at the start alone, by what people call them."""
    files = {"watches file": settings.watches_file}
    for extension in extension_classes():
        files |= extension.files(settings)
    return files


def watches_of(settings: Settings, environment: Mapping[str, str]) -> list[Watch]:
    """The checked entries of watches.yaml; raises `ProblemsError` with all that is wrong with it."""
    wanted = settings.watches
    defaults = WatchDefaults(
        reconcile_period_s=wanted.reconcile_period_s,
        max_concurrent_reconciles=wanted.max_concurrent_reconciles
        or math.ceil(read_capacity().cpus),
        is_concurrency_set=wanted.max_concurrent_reconciles is not None,
        verbosity=wanted.verbosity,
    )
    seen = _seen(settings, environment)
    watches, warnings = load_watches(
        settings.watches_file, seen, defaults, Path.cwd(), watch_keys()
    )
    for warning in warnings:
        _logger.warning("%s", warning)
    return watches


def with_search_paths(
    settings: Settings, environment: Mapping[str, str], watches: Sequence[Watch]
) -> Settings:
    """The settings with the places where plays must look.

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
    roles, collections = found.roles.setting, found.collections.setting
    runner = replace(settings.runner, roles_path=roles, collections_path=collections)
    return replace(settings, runner=runner)


def _seen(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What flags say about paths goes before what the environment says."""
    paths = {
        "ANSIBLE_ROLES_PATH": settings.runner.roles_path,
        "ANSIBLE_COLLECTIONS_PATH": settings.runner.collections_path,
    }
    return {**environment, **{name: path for name, path in paths.items() if path}}


def memory_for_runs(settings: Settings) -> int | None:
    """What runs in flight may take together; None where the settings limit their number."""
    if settings.queue.max_runs:
        return None
    return max(0, read_capacity().memory_bytes - ENGINE_BYTES)


async def engine_metrics(credentials: Credentials) -> EngineMetrics:
    """All that an engine of this cluster counts."""
    server = (await credentials.current()).server
    return EngineMetrics(__version__, api_host=server.authority, more=extension_metrics())


async def settled(
    settings: Settings,
    variables: Mapping[str, str],
    credentials: Credentials,
    stack: AsyncExitStack,
) -> Settings:
    """The settings with the folders that are this cluster's and this engine's, until the stack ends.

    `variables` are those that plays must have in their environment.
    """
    async with Client(credentials.copy()) as client:
        cluster = await cluster_id(client, credentials)
    root = stack.enter_context(claimed_root(settings.runner.root, cluster))
    runner = replace(
        settings.runner,
        root=root,
        cluster=cluster,
        server=str(credentials.server),
        environment=variables,
        memory_bytes=memory_for_runs(settings),
    )
    proxy = replace(settings.proxy, folder=stack.enter_context(folder_of_engine()))
    return replace(settings, runner=runner, proxy=proxy)


def most_runs(settings: Settings, watches: Sequence[Watch]) -> int:
    """How many runs may be in flight together."""
    cheapest = _cheapest_bytes(_is_warm(settings, watches))
    return settings.queue.max_runs or runs_within(read_capacity(), cheapest)


def _is_warm(settings: Settings, watches: Sequence[Watch]) -> bool:
    """Whether any of them may be."""
    return "warm" in {watch.runner or settings.runner.way for watch in watches}


def _cheapest_bytes(is_warm: bool) -> int:
    return WARM_RUN_BYTES if is_warm else STOCK_RUN_BYTES


def limits_for(
    settings: Settings, watches: Sequence[Watch], run_bytes: Callable[[Watch], int]
) -> Limits:
    """How many runs may be in flight, of each kind and together.

    Their number follows from the cheapest way that any of them may go, and so from the CPUs; how many
    the memory really takes, from `run_bytes`: what a run of a watch would take if it began now.
    """
    is_warm, by_gvk = _is_warm(settings, watches), {watch.gvk: watch for watch in watches}
    max_runs = most_runs(settings, watches)
    max_waiting = settings.queue.max_waiting
    if max_waiting is None:
        max_waiting = waiting_within(read_capacity(), max_runs, _cheapest_bytes(is_warm))
    return Limits(
        max_runs,
        {watch.gvk: watch.max_concurrent_reconciles for watch in watches},
        settings.runner.memory_bytes,
        lambda gvk: run_bytes(by_gvk[gvk]),
        max_waiting if is_warm else 0,  # waits of a stock run cannot be seen
        frozenset(watch.gvk for watch in watches if watch.is_concurrency_set),
    )
