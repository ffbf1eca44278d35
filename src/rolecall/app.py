"""The parts of the engine and how they are connected; reads like a parts list.

Start-up is the Go operator's order: watches, cluster, listeners (proxy, metrics, probes, the
port where roles set metrics), then streams and workers. Every replica has its listeners open and its
streams running, so that a replica that takes over knows all CRs already. The election decides which of
them work, and on which keys.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from functools import partial

from rolecall.clock import SystemClock
from rolecall.election import FencedClient, OwnedKeys
from rolecall.extending import ElectionView, Extensions, election_of, extension_classes
from rolecall.kube import Client, Credentials
from rolecall.lifecycle import (
    EngineBase,
    EngineParts,
    Listeners,
    PlayParts,
    Stop,
    WarmStateReport,
    drain,
    engine_metrics,
    find_own_pod,
    limits_for,
    most_runs,
    open_engine,
    project_of,
    run_parts,
    running,
    settled,
    signals_asking,
    take_signals,
    with_search_paths,
)
from rolecall.metrics import EngineMetrics
from rolecall.proxy import Proxy
from rolecall.reactor import ApiEventRecorder, DependentInformers, NewestCrs, OwnWrites, Reactor
from rolecall.reconcile import PlayLog, Reconciler, ReconcilerPorts, RunDefaults, Workers
from rolecall.runner import MakeRunner, SpecKeys, create_runner, terms_of
from rolecall.settings import Settings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Queue


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
    of_signals, stop = stop is None, stop or Stop()
    watches = project_of(settings, environment)
    settings = with_search_paths(settings, environment, watches)
    credentials = Credentials.load(environment)
    metrics = await engine_metrics(credentials)
    listeners = Listeners(settings, metrics, SystemClock())
    with signals_asking(stop) if of_signals else nullcontext():
        async with AsyncExitStack() as stack:
            variables = await listeners.open_to_roles(stack)
            settings = await settled(settings, variables, credentials, stack)
            base = engine_base(settings, watches, environment, credentials, metrics)
            retake = partial(take_signals, stop) if of_signals else None
            parts = engine_parts(base, play_parts(base, make_runner), plays, retake)
            await open_engine(parts, listeners, stack)
            await run_parts(running(parts), partial(drain, parts), stop)


def engine_base(
    settings: Settings,
    watches: Sequence[Watch],
    environment: Mapping[str, str],
    credentials: Credentials,
    metrics: EngineMetrics,
) -> EngineBase:
    """Which replica works, and who may write."""
    clock = SystemClock()
    supervisor = Supervisor(clock, metrics.part_restarted)
    unfenced = Client(credentials, clock=clock, on_call=metrics.api_call)
    weight = most_runs(settings, watches)
    view = ElectionView(settings, watches, clock, unfenced, metrics, supervisor, weight)
    election = election_of(view, extension_classes())
    fenced = partial(FencedClient, credentials, clock=clock, on_call=metrics.api_call)
    client = fenced(election.may_write)
    return EngineBase(
        settings=settings,
        environment=environment,
        watches=watches,
        metrics=metrics,
        supervisor=supervisor,
        extensions=Extensions(extension_classes(), clock, metrics.part_restarted),
        election=election,
        unfenced_client=unfenced,
        client=client,
        leading_client=client if election.division is None else fenced(election.leads),
        events=ApiEventRecorder(client, instance=socket.gethostname(), clock=clock),
    )


def play_parts(base: EngineBase, make_runner: MakeRunner) -> PlayParts:
    """How plays run, where their keys wait, how they reach the API server, and who follows them."""
    settings, watches, client, clock = base.settings, base.watches, base.client, base.clock
    find_pod = partial(find_own_pod, client, base.environment)
    warm_state = WarmStateReport(base.metrics, base.events, find_pod, base.election.wait_leading)
    runner = make_runner(settings.runner, warm_state.update)
    limits = limits_for(settings, watches, lambda watch: runner.bytes_of(terms_of(watch)))
    queue = Queue(clock, limits, settings.queue)
    runner.on_way_change = queue.hand_out
    keys = OwnedKeys(queue, base.election)
    dependents = DependentInformers(
        watches, client, keys, settings=settings.reactor, supervisor=base.supervisor
    )
    proxy = Proxy(
        settings.proxy,
        client,
        dependents=dependents,
        clock=clock,
        events=base.events,
        was_owned=base.extensions.was_owned,
        follow=base.extensions.follow,
    )
    return PlayParts(
        warm_state=warm_state,
        runner=runner,
        spec_keys=SpecKeys(client, clock),
        limits=limits,
        queue=queue,
        keys=keys,
        dependents=dependents,
        proxy=proxy,
    )


def engine_parts(
    base: EngineBase, ways: PlayParts, plays: PlayLog, retake_signals: Callable[[], None] | None
) -> EngineParts:
    """What happens to CRs becomes keys, and workers take turns; the extensions begin."""
    extensions, election, queue = base.extensions, base.election, ways.queue
    newest, own_writes = NewestCrs(), OwnWrites()
    reconciler = Reconciler(
        {watch.gvk: watch for watch in base.watches},
        ReconcilerPorts(
            cluster=base.client,
            runner=ways.runner,
            access=ways.proxy,
            events=base.events,
            telemetry=base.metrics,
            plays=plays,
            clock=base.clock,
            may_run=election.may_write,
            spec_keys=ways.spec_keys,
            slots=queue,
            brought=newest.take,
            hooks=extensions,
            on_written=own_writes.note,
        ),
        RunDefaults.of(base.settings),
    )
    workers = Workers(queue, reconciler, base.metrics, base.clock, election, extensions)
    forget = (ways.proxy.forget_kinds, extensions.on_kinds_change, ways.spec_keys.forget_kinds)
    reactor = Reactor(
        base.watches,
        base.client,
        OwnedKeys(queue, election, on_edited=reconciler.on_edited, drop_brought=newest.drop),
        base.metrics,
        newest=newest,
        own_writes=own_writes,
        on_kinds_change=forget,
        settings=base.settings.reactor,
        supervisor=base.supervisor,
        retake_signals=retake_signals,
    )
    parts = EngineParts(base, ways, reconciler, workers, reactor)
    extensions.begin(parts.view())
    return parts
