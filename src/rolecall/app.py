"""The parts of the engine and how they are connected; reads like a parts list, decides nothing.

Start-up is the Go operator's order: watches, cluster, doors that listen (proxy, metrics, probes, the
port where roles set metrics), then streams and workers. Every replica has its doors open and its
streams running; only the leader works, so that whoever takes over has its queue filled already.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import uuid
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, TextIO

from rolecall import __version__
from rolecall.clock import SystemClock
from rolecall.doors import Doors
from rolecall.election import Election, FencedClient, LeaseElection, SoleReplica
from rolecall.kube import Client, Credentials
from rolecall.leftovers import Leftovers
from rolecall.lifetime import Stop, live, signals_asking
from rolecall.logs import PrintedPlays
from rolecall.metrics import EngineMetrics, LoopMonitor
from rolecall.proxy import Proxy
from rolecall.reactor import Dependents, Events, Reactor
from rolecall.reconcile import Reconciler, RunDefaults, Workers, World
from rolecall.runner import create_runner, folder_of_engine
from rolecall.settings import Settings
from rolecall.surroundings import limits_for, watches_of
from rolecall.watches import Watch
from rolecall.workqueue import Key, Queue, Urgency

_logger = logging.getLogger(__name__)


async def serve(settings: Settings, environment: Mapping[str, str], play_output: TextIO) -> None:
    """Run the engine until it is told to stop; raises whatever else ended it."""
    stop = Stop()
    watches = watches_of(settings, environment)
    credentials = Credentials.load(environment)
    server = (await credentials.current()).server
    metrics = EngineMetrics(__version__, api_host=server.authority)
    doors = Doors(settings, metrics, SystemClock())
    with signals_asking(stop):
        async with AsyncExitStack() as stack:
            runner = replace(settings.runner, environment=await doors.open_to_roles(stack))
            proxy = replace(settings.proxy, folder=stack.enter_context(folder_of_engine()))
            settings = replace(settings, runner=runner, proxy=proxy)
            engine = Engine(settings, watches, credentials, metrics, play_output)
            await engine.open(stack, doors)
            await live(engine.parts(), engine.drain, stop)


class Engine:
    """All parts of one process."""

    def __init__(
        self,
        settings: Settings,
        watches: list[Watch],
        credentials: Credentials,
        metrics: EngineMetrics,
        play_output: TextIO,
    ) -> None:
        self._settings = settings
        self._watches = watches
        self._metrics = metrics
        self._clock = clock = SystemClock()
        self._lease_client = Client(credentials, clock=clock, on_call=metrics.api_call)
        self._election = self._made_election()
        self._client = client = FencedClient(
            credentials, self._election.may_write, clock=clock, on_call=metrics.api_call
        )
        self._limits = limits_for(settings, watches)
        self._queue = queue = Queue(clock, self._limits, settings.queue)
        self._dependents = Dependents(
            watches, client, queue, settings=settings.reactor, clock=clock
        )
        self._proxy = Proxy(settings.proxy, client, dependents=self._dependents, clock=clock)
        self._runner = create_runner(settings.runner)
        self._events = Events(client, instance=socket.gethostname(), clock=clock)
        logs = settings.logs
        self._reconciler = Reconciler(
            {watch.gvk: watch for watch in watches},
            World(
                cluster=client,
                runner=self._runner,
                access=self._proxy,
                events=self._events,
                telemetry=metrics,
                plays=PrintedPlays(
                    logs.ansible_events,
                    prints_stdout=settings.runner.debug_logs,
                    stream=play_output,
                ),
                clock=clock,
                may_run=self._election.may_write,
                on_written=lambda *write: self._reactor.note_own_write(*write),  # noqa: PLW0108 - see below
            ),
            RunDefaults(
                timeout_s=settings.runner.timeout_s,
                no_progress_timeout_s=settings.runner.no_progress_timeout_s,
                play_verbosity=logs.play_verbosity,
            ),
        )
        self._leftovers = Leftovers(settings, watches, client)
        gone, leading = self._leftovers.forget, self._election.wait_leading
        self._workers = Workers(queue, self._reconciler, metrics, clock, gone, leading)
        self._reactor = Reactor(
            watches,
            client,
            Intake(queue, self._reconciler),
            metrics,
            settings=settings.reactor,
            clock=clock,
        )
        self._reactor.tell_of_kinds(self._proxy.forget_kinds)

    async def open(self, stack: AsyncExitStack, doors: Doors) -> None:
        """Open every door; what was opened last is closed first."""
        for client in (self._lease_client, self._client):
            stack.push_async_callback(client.close)
        self._metrics.prepare(self._watches)
        self._metrics.read_queue(self._queue.snapshot, [watch.gvk for watch in self._watches])
        await self._proxy.start()
        stack.push_async_callback(self._proxy.stop)
        ports = await doors.open(stack, self._lease_client, self._reactor, self._proxy)
        stack.push_async_callback(self._dependents.close)
        stack.push_async_callback(self._election.release)
        stack.push_async_callback(self._runner.close)
        _logger.info("engine started", extra={"fields": self._started(ports)})

    def parts(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What runs side by side from then on."""
        parts = {
            "election": self._election.run(),
            "reactor": self._reactor.run(),
            "events": self._events.run(),
            "workers": self._work(),
        }
        if (limit_s := self._settings.loop_limit_s) is not None:
            parts["loop monitor"] = LoopMonitor(limit_s, self._clock, self._metrics.loop_held).run()
        return parts

    async def drain(self, is_patient: bool, reason: str) -> None:
        """End what is in flight."""
        patience_s = self._settings.graceful_shutdown_s if is_patient else 0.0
        await self._workers.drain(patience_s, reason)

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._runner.warm_up(self._watches), name="warm up")
            await self._election.wait_leading()
            tasks.create_task(self._workers.run(self._limits.max_runs), name="workers")
            tasks.create_task(self._leftovers.sweep(), name="leftovers")

    def _made_election(self) -> Election:
        settings = self._settings.election
        if not settings.is_on:
            return SoleReplica()
        return LeaseElection(
            self._lease_client,
            settings,
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            clock=self._clock,
            on_change=self._on_leading,
        )

    def _on_leading(self, leads: bool) -> None:
        self._metrics.leads(self._settings.election.id, leads=leads)
        if not leads:
            self._reconciler.interrupt_runs("this replica may not lead now")

    def _started(self, ports: Mapping[str, int]) -> dict[str, object]:
        namespaces = self._settings.reactor.namespaces
        return {
            "version": __version__,
            "kinds": len(self._watches),
            "namespaces": ",".join(namespaces) or "all",
            "max_runs": self._limits.max_runs,
            **{f"{name}_port": port for name, port in ports.items()},
        }


class Intake:
    """Where keys come in: the queue gets them, and runs in flight hear of edits."""

    def __init__(self, queue: Queue, reconciler: Reconciler) -> None:
        self._queue = queue
        self._reconciler = reconciler

    def add(self, key: Key, urgency: Urgency) -> None:
        """Reconcile this key, this soon."""
        self._queue.add(key, urgency)
        if urgency is Urgency.EDIT:
            self._reconciler.notice(key)
