"""The parts of the engine and how they are connected; reads like a parts list.

Start-up is the Go operator's order: watches, cluster, listeners (proxy, metrics, probes, the
port where roles set metrics), then streams and workers. Every replica has its listeners open and its
streams running, so that whoever takes over knows all CRs already. Only the leader works; with shards
all do, each on its part (`shards`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from rolecall import __version__
from rolecall.clock import SystemClock
from rolecall.election import Election, FencedClient, LeaseElection
from rolecall.extending import (
    Endpoints,
    EngineFacts,
    EnginePorts,
    EngineView,
    Extensions,
    LastRuns,
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
from rolecall.plan import PlannedDrift, Planner
from rolecall.proxy import Proxy
from rolecall.reactor import ApiEventRecorder, DependentInformers, Reactor
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
from rolecall.shards import (
    ElectionRights,
    FirstWork,
    ShardedElection,
    ShardReport,
    SharedKeys,
    Sharing,
    SharingParts,
    digest_of_watched,
    division_of,
)
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Queue, Turn

# After the last turn, for shards to change hands, and for their Leases to say so.
AFTER_DRAIN_S = 2.0
# With shards, CRs go while another replica has them, and what this one kept of them stays.
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
        self._first_work = FirstWork()
        self._sharing = Sharing(settings.shards, supervisor, self._first_work)
        self._election = self._made_election()
        self._client = client = self._fenced(credentials, self._election.may_write)
        self._first_client = self._made_first_client(credentials)
        self._queue = queue = Queue(clock, self._limits, settings.queue)
        self._keys = self._made_keys()
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
        gone, leading = self._extensions.on_gone, self._election.wait_leading
        self._workers = Workers(queue, self._reconciler, metrics, clock, gone, leading)
        self._workers.on_turn = self._on_turn
        self._workers.rights = ElectionRights(self._election)
        self._reactor = self._made_reactor(retake_signals)
        self._shards = self._connected_shards()

    async def open(self, stack: AsyncExitStack, listeners: Listeners) -> None:
        """Open every listener; what was opened last is closed first."""
        for client in (self._lease_client, self._client, self._first_client):
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
        if self._shards is not None:
            endpoints.notes["shards"] = self._shards.note
        await listeners.open(stack, self._lease_client, self._reactor, self._proxy)
        stack.push_async_callback(self._election.release)
        stack.push_async_callback(self._sharing.close)
        stack.push_async_callback(self._dependents.close)
        stack.push_async_callback(self._warm_state.close)
        stack.push_async_callback(self._runner.close)
        _logger.info("engine started", extra=log_fields(**self._started(endpoints.ports)))

    def parts(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What runs side by side from then on."""
        keep = self._supervisor.keep
        parts = {
            "election": keep("election", self._election.run),
            "reactor": self._reactor.run(),  # whose parts are supervised one by one
            "events": keep("events", self._events.run),
            "workers": self._work(),
            **{name: keep(name, run) for name, run in self._extensions.parts().items()},
        }
        if self._shards is not None:
            parts["shards"] = keep("shards", self._shards.run)
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
                election = self._settings.shards.election
                margin_s = election.lease_s - election.renew_deadline_s
                await asyncio.wait({leaving}, timeout=AFTER_DRAIN_S + margin_s)
        finally:
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)

    def _fenced(self, credentials: Credentials, may_write: Callable[[], bool]) -> FencedClient:
        return FencedClient(
            credentials, may_write, clock=self._clock, on_call=self._metrics.api_call
        )

    def _made_first_client(self, credentials: Credentials) -> FencedClient:
        """Writes that of which there is one for all replicas."""
        if not self._settings.shards.is_on:
            return self._client
        return self._fenced(credentials, self._election.holds_first)

    def _made_keys(self) -> SharedKeys:
        shards = self._settings.shards
        # A key may be on its way from one replica to another for so long.
        remembered_s = shards.patience_s + 2 * shards.election.lease_s if shards.is_on else 0.0
        keys = SharedKeys(self._queue, self._election.hand_for, self._clock, remembered_s)
        keys.on_edited = lambda key: self._reconciler.on_edited(key)  # noqa: PLW0108 - made later
        keys.on_foreign = lambda key: self._reactor.newest.drop(key)  # noqa: PLW0108 - made later
        return keys

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
                drift=PlannedDrift(self._made_planner()),
                may_run=self._election.may_write,
                spec_keys=self._spec_keys,
                slots=self._queue,
                brought=lambda key: self._reactor.newest.take(key),  # noqa: PLW0108 - made later
                hooks=self._extensions,
                on_written=lambda *write: self._reactor.note_own_write(*write),  # noqa: PLW0108 - made later
            ),
            _run_defaults(self._settings),
        )

    def _connected_shards(self) -> ShardReport | None:
        """Let shards move keys; tells who has which. None: there are none."""
        election, settings = self._election, self._settings.shards
        if not isinstance(election, ShardedElection):
            return None
        parts = SharingParts(
            keys=self._keys,
            queue=self._queue,
            reconciler=self._reconciler,
            known=self._reactor.known,
            metrics=self._metrics,
            kept=self._extensions,
            remembering=(self._reconciler, self._extensions, self._metrics),
            on_first=self._extensions.on_leading_change,
            posting_for=lambda: self._events.posting_for,
            drop_foreign=lambda: self._reactor.newest.keep_only(election.is_ours),
        )
        self._sharing.connect(parts)
        self._workers.on_put_down = self._sharing.put_down
        report = ShardReport(
            settings,
            election.view,
            self._clock,
            events=self._events,
            find_pod=lambda: find_own_pod(self._client, self._environment),
        )
        self._metrics.read_shards(report.figures, settings.election.id)
        return report

    def _made_planner(self) -> Planner:
        return Planner(
            self._runner,
            self._proxy,
            self._client,
            self._clock,
            lambda run: self._extensions.foresee(run),  # noqa: PLW0108 - made later
            self._spec_keys,
        )

    def _forget_kinds(self) -> None:
        self._proxy.forget_kinds()
        self._extensions.on_kinds_change()
        self._spec_keys.forget_kinds()

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            attempt, limits = self._supervisor.attempt, self._limits
            most = limits.max_runs + limits.max_waiting
            warm_up = attempt(
                "warm up", lambda: self._runner.warm_up([terms_of(each) for each in self._watches])
            )
            tasks.create_task(warm_up, name="warm up")
            await self._election.wait_leading()
            if not self._settings.shards.is_on:
                self._first_work.comes()
            works = self._supervisor.keep("workers", lambda: self._workers.run(most))
            tasks.create_task(works, name="workers")
            tasks.create_task(self._sweep(), name="sweep")

    async def _sweep(self) -> None:
        """What CRs left that went while no engine looked; with shards, while another one had them."""
        while True:
            await self._supervisor.attempt("sweep of extensions", self._extensions.sweep)
            if not self._settings.shards.is_on:
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
            leading_client=self._first_client,
            unfenced_client=self._lease_client,
            leads=self._election.holds_first,
            while_leading=self._first_work.run,
            events=self._events,
            metrics=self._metrics,
            supervisor=self._supervisor,
            keys=self._keys,
            dependents=self._dependents,
            is_listed=lambda: self._reactor.is_synced,
            runner=self._runner,
            issue_read_access=self._proxy.issue_read_access,
            findings_in_flight=lambda kind: self._reconciler.findings_in_flight(kind),  # noqa: PLW0108 - made later
            last_runs=self._last_runs,
            inspected=self._engine_ports,
            files=files_of(self._settings),
            retry=self._keys.add_at_once,
            hand_for=self._election.hand_for,
            run_again=lambda key: self._extensions.run_again(key),  # noqa: PLW0108 - made later
        )
        return Extensions(extension_classes(), view, self._metrics.part_restarted)

    def _made_election(self) -> Election:
        settings = self._settings.election
        if self._settings.shards.is_on:
            return ShardedElection(
                self._lease_client,
                self._settings.shards,
                identity_host=socket.gethostname(),
                clock=self._clock,
                weight=self._limits.max_runs,
                ports=self._sharing.ports,
                watched=digest_of_watched(self._watches, self._settings.reactor.namespaces),
            )
        if not settings.is_on:
            return Election()
        return LeaseElection(
            self._lease_client,
            settings,
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            clock=self._clock,
            on_change=self._on_leading,
        )

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
            division=division_of(self._election, self._settings.shards),
        )

    def _made_reactor(self, retake_signals: Callable[[], None] | None) -> Reactor:
        return Reactor(
            self._watches,
            self._client,
            self._keys,
            self._metrics,
            settings=self._settings.reactor,
            supervisor=self._supervisor,
            retake_signals=retake_signals,
        )

    def _on_turn(self, turn: Turn, outcome: Outcome) -> None:
        self._sharing.turn_over(outcome)
        self._extensions.turn_over(turn, outcome)
        if outcome.forget:
            self._last_runs.forget(turn.key)
        else:
            run = str(outcome.ran.get("run", ""))
            self._last_runs.turn_over(turn.key, outcome.error, run)

    def _on_leading(self, leads: bool) -> None:
        self._metrics.leads(self._settings.election.id, leads=leads)
        self._extensions.on_leading_change()
        if not leads:
            self._reconciler.interrupt_runs("this replica is not the leader now")

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
