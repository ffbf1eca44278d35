"""An engine at work: its listeners open, its parts run side by side, and its last turns end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from rolecall import __version__
from rolecall.lifecycle.first_lists import freeze_first_lists
from rolecall.lifecycle.listeners import Listeners
from rolecall.lifecycle.parts import EngineParts
from rolecall.log_fields import log_fields
from rolecall.metrics import LoopMonitor
from rolecall.runner import terms_of

# After the last turn, for keys to change hands, and for Leases to say so.
AFTER_DRAIN_S = 2.0
# Where replicas divide the CRs, some go while another one has them, and what this one kept stays.
SWEEP_EVERY_S = 3600.0

_logger = logging.getLogger(__name__)


async def open_engine(parts: EngineParts, listeners: Listeners, stack: AsyncExitStack) -> None:
    """Open every listener; what was opened last is closed first."""
    for client in (parts.base.unfenced_client, parts.base.client, parts.base.leading_client):
        stack.push_async_callback(client.close)
    parts.base.metrics.prepare(parts.base.watches)
    parts.base.metrics.read_dependents(lambda: len(parts.plays.dependents.lacking))
    parts.base.metrics.read_queue(
        parts.plays.queue.snapshot, [watch.gvk for watch in parts.base.watches]
    )
    stack.push_async_callback(parts.base.extensions.close)
    await parts.plays.proxy.start()
    stack.push_async_callback(parts.plays.proxy.stop)
    endpoints = listeners.endpoints
    endpoints.notes["warm"] = parts.plays.warm_state.note
    endpoints.notes["dependents"] = parts.plays.dependents.note_of_lacking
    await stack.enter_async_context(parts.base.extensions.opened(endpoints))
    await listeners.open(stack, parts.base.unfenced_client, parts.reactor, parts.plays.proxy)
    for close in (
        parts.base.election.release,
        parts.plays.dependents.close,
        parts.plays.warm_state.close,
        parts.plays.runner.close,
    ):
        stack.push_async_callback(close)
    _logger.info("engine started", extra=log_fields(**_started(parts, endpoints.ports)))


def running(parts: EngineParts) -> dict[str, Coroutine[Any, Any, None]]:
    """What runs side by side from then on."""
    keep = parts.base.supervisor.keep
    coroutines = {
        "election": keep("election", partial(parts.base.election.run, parts.work())),
        "reactor": parts.reactor.run(),  # whose parts are supervised one by one
        "events": keep("events", parts.base.events.run),
        "workers": _take_turns(parts),
        "first lists": freeze_first_lists(parts.base.clock, lambda: parts.reactor.is_synced),
        **{name: keep(name, run) for name, run in parts.base.extensions.parts().items()},
    }
    if (limit_s := parts.base.settings.loop_limit_s) is not None:
        monitor = LoopMonitor(limit_s, parts.base.clock, parts.base.metrics.loop_held)
        coroutines["loop monitor"] = keep("loop monitor", monitor.run)
    return coroutines


async def drain(parts: EngineParts, is_patient: bool, reason: str) -> None:
    """Begin no turn any more; let runs end, and others take over."""
    parts.base.extensions.begin_end()
    patience_s = parts.base.settings.graceful_shutdown_s if is_patient else 0.0
    # Other replicas take what is not in work here any more, while the last runs still go on.
    leaving = asyncio.create_task(parts.base.election.leave(), name="leave")
    try:
        await parts.workers.drain(patience_s, reason)
        await parts.base.extensions.stop()
        if is_patient:
            election = parts.base.settings.election
            margin_s = election.lease_s - election.renew_deadline_s
            await asyncio.wait({leaving}, timeout=AFTER_DRAIN_S + margin_s)
    finally:
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


async def _take_turns(parts: EngineParts) -> None:
    terms = [terms_of(watch) for watch in parts.base.watches if watch.play]
    most = parts.plays.limits.max_runs + parts.plays.limits.max_waiting
    async with asyncio.TaskGroup() as tasks:
        warm_up = parts.base.supervisor.attempt(
            "warm up", partial(parts.plays.runner.warm_up, terms)
        )
        tasks.create_task(warm_up, name="warm up")
        await parts.base.election.wait_leading()
        works = parts.base.supervisor.keep("workers", partial(parts.workers.run, most))
        tasks.create_task(works, name="workers")
        tasks.create_task(_sweep(parts), name="sweep")


async def _sweep(parts: EngineParts) -> None:
    """What CRs left that went while no engine looked; or while another one had them."""
    while True:
        await parts.base.supervisor.attempt("sweep of extensions", parts.base.extensions.sweep)
        if parts.base.election.division is None:
            return
        await parts.base.clock.sleep(SWEEP_EVERY_S)


def _started(parts: EngineParts, ports: Mapping[str, int]) -> dict[str, object]:
    return {
        "version": __version__,
        "kinds": len(parts.base.watches),
        "namespaces": ",".join(parts.base.settings.reactor.namespaces) or "all",
        "max_runs": parts.plays.limits.max_runs,
        "max_waiting": parts.plays.limits.max_waiting,
        "artifacts": str(parts.base.settings.runner.root),
        **{f"{name}_port": port for name, port in ports.items()},
    }
