"""The parts of the engine and how they are connected; reads like a parts list.

Start-up is the Go operator's order: watches, cluster, listeners (proxy, metrics, probes, the
port where roles set metrics), then streams and workers. Every replica has its listeners open and its
streams running, so that whoever takes over knows all CRs already. Which of them
work, on which keys, is for the election to say.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from rolecall import __version__
from rolecall.clock import SystemClock
from rolecall.election import Election, EngineWork, FencedClient, OwnedKeys
from rolecall.extending import (
    ElectionView,
    Endpoints,
    EngineFacts,
    EnginePorts,
    EngineView,
    Extensions,
    LastRuns,
    election_of,
    extension_classes,
)
from rolecall.kube import Client, Credentials, cluster_id
from rolecall.lifecycle import (
    Listeners,
    Stop,
    WarmStateReport,
    files_of,
    find_own_pod,
    limits_for,
    memory_for_runs,
    project_of,
    run_parts,
    signals_asking,
    take_signals,
    with_search_paths,
)
from rolecall.log_fields import log_fields
from rolecall.metrics import EngineMetrics, LoopMonitor
from rolecall.proxy import Proxy
from rolecall.reactor import ApiEventRecorder, DependentInformers, NewestCrs, Reactor
from rolecall.reconcile import (
    Outcome,
    PlayLog,
    Reconciler,
    ReconcilerPorts,
    RunDefaults,
    Workers,
)
from rolecall.runner import (
    MakeRunner,
    SpecKeys,
    claimed_root,
    create_runner,
    folder_of_engine,
    terms_of,
)
from rolecall.settings import RunnerSettings, Settings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Queue, Turn

# After the last turn, for keys to change hands, and for Leases to say so.
AFTER_DRAIN_S = 2.0
# Where replicas divide the CRs, some go while another one has them, and what this one kept stays.
SWEEP_EVERY_S = 3600.0

_logger = logging.getLogger(__name__)


async def serve(
    settings: Settings,
    environment: Mapping[str, str],
    plays: PlayLog,
    *,
    make_runner: MakeRunner = create_runner,
    stop: Stop | None = None,
) -> None:
    """Run the engine until it is asked to stop; raises whatever else ended it.

    Without a `stop`, SIGTERM and SIGINT ask.
    """
    signals: AbstractContextManager[None] = nullcontext()
    retake_signals: Callable[[], None] | None = None
    if stop is None:
        stop = Stop()
        signals = signals_asking(stop)
        retake_signals = partial(take_signals, stop)
    watches = project_of(settings, environment)
    runner = with_search_paths(settings, environment, watches)
    settings = replace(settings, runner=runner)
    credentials = Credentials.load(environment)
    server = (await credentials.current()).server
    more = [each for extension in extension_classes() for each in extension.metrics]
    metrics = EngineMetrics(__version__, api_host=server.authority, more=more)
    listeners = Listeners(settings, metrics, SystemClock())
    with signals:
        async with AsyncExitStack() as stack:
            variables = await listeners.open_to_roles(stack)
            runner = await _settled(settings.runner, credentials, stack)
            memory_bytes = memory_for_runs(settings)
            runner = replace(runner, environment=variables, memory_bytes=memory_bytes)
            proxy = replace(settings.proxy, folder=stack.enter_context(folder_of_engine()))
            settings = replace(settings, runner=runner, proxy=proxy)
            engine = Engine(
                settings,
                watches,
                credentials,
                metrics,
                plays,
                environment,
                endpoints=listeners.endpoints,
                make_runner=make_runner,
                retake_signals=retake_signals,
            )
            await engine.open(stack, listeners)
            await run_parts(engine.parts(), engine.drain, stop)


async def _settled(
    settings: RunnerSettings, credentials: Credentials, stack: AsyncExitStack
) -> RunnerSettings:
    """The settings with the folder that is this cluster's, ours until the stack ends."""
    async with Client(credentials.copy()) as client:
        cluster = await cluster_id(client, credentials)
    root = stack.enter_context(claimed_root(settings.root, cluster))
    return replace(settings, root=root, cluster=cluster, server=str(credentials.server))


class Engine:
    def __init__(  # noqa: PLR0913 - all that comes from outside
        self,
        settings: Settings,
        watches: list[Watch],
        credentials: Credentials,
        metrics: EngineMetrics,
        plays: PlayLog,
        environment: Mapping[str, str],
        *,
        endpoints: Endpoints,
        make_runner: MakeRunner,
        retake_signals: Callable[[], None] | None,
    ) -> None:
        self._settings = settings
        self._endpoints = endpoints
        self._watches = watches
        self._environment = environment
        self._metrics = metrics
        self._clock = clock = SystemClock()
        self._lease_client = Client(credentials, clock=clock, on_call=metrics.api_call)
        self._supervisor = supervisor = Supervisor(clock, metrics.part_restarted)
        self._limits = limits_for(
            settings, watches, lambda watch: self._runner.bytes_of(terms_of(watch))
        )
        self._election = self._made_election()
        self._client = client = self._fenced(credentials, self._election.may_write)
        self._leading_client = self._made_leading_client(credentials)
        self._queue = queue = Queue(clock, self._limits, settings.queue)
        self._newest = NewestCrs()
        self._keys = OwnedKeys(
            queue,
            self._election,
            on_edited=lambda key: self._reconciler.on_edited(key),  # noqa: PLW0108 - made later
            drop_brought=self._newest.drop,
        )
        self._dependents = DependentInformers(
            watches, client, self._keys, settings=settings.reactor, supervisor=supervisor
        )
        self._events = ApiEventRecorder(client, instance=socket.gethostname(), clock=clock)
        self._proxy = Proxy(
            settings.proxy,
            client,
            dependents=self._dependents,
            clock=clock,
            events=self._events,
            was_owned=lambda owner, uid: self._extensions.was_owned(owner, uid),  # noqa: PLW0108 - made later
            follow=lambda run: self._extensions.follow(run),  # noqa: PLW0108 - made later
        )
        self._warm_state = self._made_warm_state()
        self._runner = make_runner(settings.runner, self._warm_state.update)
        self._runner.on_way_change = queue.hand_out
        self._spec_keys = SpecKeys(self._client, self._clock)
        self._last_runs = LastRuns(settings.runner.root)
        self._extensions = self._made_extensions()
        self._reconciler = self._made_reconciler(plays)
        self._workers = Workers(
            queue,
            self._reconciler,
            metrics,
            clock,
            self._election,
            on_gone=self._extensions.on_gone,
            on_turn=self._on_turn,
        )
        self._reactor = self._made_reactor(retake_signals)
        self._work = self._divisible_work()

    async def open(self, stack: AsyncExitStack, listeners: Listeners) -> None:
        """Open every listener; what was opened last is closed first."""
        for client in (self._lease_client, self._client, self._leading_client):
            stack.push_async_callback(client.close)
        self._metrics.prepare(self._watches)
        self._reactor.on_kinds_change = self._forget_kinds
        self._metrics.read_dependents(lambda: len(self._dependents.lacking))
        self._metrics.read_queue(self._queue.snapshot, [watch.gvk for watch in self._watches])
        stack.push_async_callback(self._extensions.close)
        await self._proxy.start()
        stack.push_async_callback(self._proxy.stop)
        endpoints = self._endpoints
        endpoints.notes["warm"] = self._warm_state.note
        endpoints.notes["dependents"] = self._dependents.note_of_lacking
        await stack.enter_async_context(self._extensions.opened(endpoints))
        await listeners.open(stack, self._lease_client, self._reactor, self._proxy)
        stack.push_async_callback(self._election.release)
        stack.push_async_callback(self._dependents.close)
        stack.push_async_callback(self._warm_state.close)
        stack.push_async_callback(self._runner.close)
        _logger.info("engine started", extra=log_fields(**self._started(endpoints.ports)))

    def parts(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What runs side by side from then on."""
        keep = self._supervisor.keep
        parts = {
            "election": keep("election", partial(self._election.run, self._work)),
            "reactor": self._reactor.run(),  # whose parts are supervised one by one
            "events": keep("events", self._events.run),
            "workers": self._run_workers(),
            **{name: keep(name, run) for name, run in self._extensions.parts().items()},
        }
        if (limit_s := self._settings.loop_limit_s) is not None:
            on_held = self._metrics.loop_held
            parts["loop monitor"] = keep(
                "loop monitor", lambda: LoopMonitor(limit_s, self._clock, on_held).run()
            )
        return parts

    async def drain(self, is_patient: bool, reason: str) -> None:
        self._extensions.begin_end()
        patience_s = self._settings.graceful_shutdown_s if is_patient else 0.0
        # Others take what nobody works at any more, while the last runs still go on.
        leaving = asyncio.create_task(self._election.leave(), name="leave")
        try:
            await self._workers.drain(patience_s, reason)
            await self._extensions.stop()
            if is_patient:
                election = self._settings.election
                margin_s = election.lease_s - election.renew_deadline_s
                await asyncio.wait({leaving}, timeout=AFTER_DRAIN_S + margin_s)
        finally:
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)

    def _fenced(self, credentials: Credentials, may_write: Callable[[], bool]) -> FencedClient:
        return FencedClient(
            credentials, may_write, clock=self._clock, on_call=self._metrics.api_call
        )

    def _made_leading_client(self, credentials: Credentials) -> FencedClient:
        """Writes that of which there is one for all replicas."""
        if self._election.division is None:
            return self._client
        return self._fenced(credentials, self._election.leads)

    def _made_reconciler(self, plays: PlayLog) -> Reconciler:
        return Reconciler(
            {watch.gvk: watch for watch in self._watches},
            ReconcilerPorts(
                cluster=self._client,
                runner=self._runner,
                access=self._proxy,
                events=self._events,
                telemetry=self._metrics,
                plays=plays,
                clock=self._clock,
                may_run=self._election.may_write,
                spec_keys=self._spec_keys,
                slots=self._queue,
                brought=self._newest.take,
                hooks=self._extensions,
                on_written=lambda *write: self._reactor.note_own_write(*write),  # noqa: PLW0108 - made later
            ),
            _run_defaults(self._settings),
        )

    def _divisible_work(self) -> EngineWork:
        return EngineWork(
            queue=self._queue,
            runs=self._reconciler,
            known=self._reactor.known,
            kept=self._extensions,
            remembering=(self._reconciler, self._extensions, self._metrics),
            on_leading_change=self._extensions.on_leading_change,
            posting_for=lambda: self._events.posting_for,
            keep_brought=self._newest.keep_only,
        )

    def _forget_kinds(self) -> None:
        self._proxy.forget_kinds()
        self._extensions.on_kinds_change()
        self._spec_keys.forget_kinds()

    async def _run_workers(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            attempt, limits = self._supervisor.attempt, self._limits
            most = limits.max_runs + limits.max_waiting
            warm_up = attempt(
                "warm up", lambda: self._runner.warm_up([terms_of(each) for each in self._watches])
            )
            tasks.create_task(warm_up, name="warm up")
            await self._election.wait_leading()
            works = self._supervisor.keep("workers", lambda: self._workers.run(most))
            tasks.create_task(works, name="workers")
            tasks.create_task(self._sweep(), name="sweep")

    async def _sweep(self) -> None:
        """What CRs left that went while no engine looked; or while another one had them."""
        while True:
            await self._supervisor.attempt("sweep of extensions", self._extensions.sweep)
            if self._election.division is None:
                return
            await self._clock.sleep(SWEEP_EVERY_S)

    def _made_warm_state(self) -> WarmStateReport:
        return WarmStateReport(
            self._metrics,
            events=lambda: self._events,
            find_pod=lambda: find_own_pod(self._client, self._environment),
            wait_leading=self._election.wait_leading,
        )

    def _made_extensions(self) -> Extensions:
        view = EngineView(
            version=__version__,
            settings=self._settings,
            environment=self._environment,
            watches=self._watches,
            clock=self._clock,
            client=self._client,
            leading_client=self._leading_client,
            unfenced_client=self._lease_client,
            election=self._election,
            events=self._events,
            metrics=self._metrics,
            supervisor=self._supervisor,
            keys=self._keys,
            dependents=self._dependents,
            is_listed=lambda: self._reactor.is_synced,
            runner=self._runner,
            issue_read_access=self._proxy.issue_read_access,
            issue_access_to_world=self._proxy.issue_access_to_world,
            foresee=lambda run: self._extensions.foresee(run),  # noqa: PLW0108 - made later
            spec_keys=self._spec_keys,
            findings_in_flight=lambda kind: self._reconciler.findings_in_flight(kind),  # noqa: PLW0108 - made later
            last_runs=self._last_runs,
            inspected=self._engine_ports,
            files=files_of(self._settings),
            retry=self._keys.add_at_once,
            run_again=lambda key: self._extensions.run_again(key),  # noqa: PLW0108 - made later
        )
        return Extensions(extension_classes(), view, self._metrics.part_restarted)

    def _made_election(self) -> Election:
        view = ElectionView(
            settings=self._settings,
            watches=self._watches,
            clock=self._clock,
            client=self._lease_client,
            metrics=self._metrics,
            supervisor=self._supervisor,
            weight=self._limits.max_runs,
        )
        return election_of(view, extension_classes())

    def _engine_ports(self) -> EnginePorts:
        kinds = [watch.gvk for watch in self._watches]
        return EnginePorts(
            facts=EngineFacts(
                __version__,
                os.getpid(),
                self._clock.now(),
                kinds,
                str(self._client.credentials.server),
            ),
            clock=self._clock,
            plurals=lambda: self._reactor.plurals,
            known=self._reactor.known,
            in_flight=self._reconciler.in_flight,
            waiting=self._queue.waiting,
            delayed=self._queue.delayed,
            leads=self._election.may_write,
            leader=lambda: self._election.leader,
            reconcile=self._keys.add_at_once,
            stop=self._reconciler.stop_run,
            division=self._election.division,
        )

    def _made_reactor(self, retake_signals: Callable[[], None] | None) -> Reactor:
        return Reactor(
            self._watches,
            self._client,
            self._keys,
            self._metrics,
            newest=self._newest,
            settings=self._settings.reactor,
            supervisor=self._supervisor,
            retake_signals=retake_signals,
        )

    def _on_turn(self, turn: Turn, outcome: Outcome) -> None:
        self._extensions.turn_over(turn, outcome)
        if outcome.forget:
            self._last_runs.forget(turn.key)
        else:
            run = str(outcome.ran.get("run", ""))
            self._last_runs.turn_over(turn.key, outcome.error, run)

    def _started(self, ports: Mapping[str, int]) -> dict[str, object]:
        namespaces = self._settings.reactor.namespaces
        return {
            "version": __version__,
            "kinds": len(self._watches),
            "namespaces": ",".join(namespaces) or "all",
            "max_runs": self._limits.max_runs,
            "max_waiting": self._limits.max_waiting,
            "artifacts": str(self._settings.runner.root),
            **{f"{name}_port": port for name, port in ports.items()},
        }


def _run_defaults(settings: Settings) -> RunDefaults:
    return RunDefaults(
        timeout_s=settings.runner.timeout_s,
        no_progress_timeout_s=settings.runner.no_progress_timeout_s,
        dependents_delay_s=settings.queue.dependents_delay_s,
        play_verbosity=settings.logs.play_verbosity,
    )
