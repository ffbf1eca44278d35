"""All parts of an engine, and how extensions and the election see them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall import __version__
from rolecall.clock import Clock
from rolecall.election import Election, EngineWork, FencedClient, OwnedKeys
from rolecall.extending import EngineFacts, EnginePorts, EngineView, Extensions, LastRuns
from rolecall.kube import Client
from rolecall.lifecycle.startup import files_of
from rolecall.lifecycle.warm_state import WarmStateReport
from rolecall.metrics import EngineMetrics
from rolecall.proxy import Proxy
from rolecall.reactor import ApiEventRecorder, DependentInformers, Reactor
from rolecall.reconcile import Reconciler, Workers
from rolecall.runner import EngineRunner, SpecKeys
from rolecall.settings import Settings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Limits, Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineBase:
    """What comes from outside, which replica works, and who may write."""

    settings: Settings
    environment: Mapping[str, str]
    watches: Sequence[Watch]
    metrics: EngineMetrics
    supervisor: Supervisor
    extensions: Extensions
    election: Election
    unfenced_client: Client
    client: FencedClient
    leading_client: FencedClient
    events: ApiEventRecorder

    @property
    def clock(self) -> Clock:
        return self.supervisor.clock


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayParts:
    """How plays run, where their keys wait, and how they reach the API server."""

    warm_state: WarmStateReport
    runner: EngineRunner
    spec_keys: SpecKeys
    limits: Limits
    queue: Queue
    keys: OwnedKeys
    dependents: DependentInformers
    proxy: Proxy


@dataclass(frozen=True, slots=True)
class EngineParts:
    """Connected with each other; nothing is open or runs yet."""

    base: EngineBase
    plays: PlayParts
    reconciler: Reconciler
    workers: Workers
    reactor: Reactor

    def view(self) -> EngineView:
        """What extensions see."""
        return EngineView(
            version=__version__,
            settings=self.base.settings,
            environment=self.base.environment,
            watches=self.base.watches,
            clock=self.base.clock,
            client=self.base.client,
            leading_client=self.base.leading_client,
            unfenced_client=self.base.unfenced_client,
            election=self.base.election,
            events=self.base.events,
            metrics=self.base.metrics,
            supervisor=self.base.supervisor,
            keys=self.plays.keys,
            dependents=self.plays.dependents,
            is_listed=lambda: self.reactor.is_synced,
            runner=self.plays.runner,
            issue_read_access=self.plays.proxy.issue_read_access,
            issue_access_to_world=self.plays.proxy.issue_access_to_world,
            issue_access_to_process=self.plays.proxy.issue_access_to_process,
            held=self.plays.queue.held,
            foresee=self.base.extensions.foresee,
            acted=self.base.extensions.acted,
            reviewer_of=self.base.extensions.reviewer_of,
            spec_keys=self.plays.spec_keys,
            findings_in_flight=self.reconciler.findings_in_flight,
            last_runs=LastRuns(self.base.settings.runner.root),
            inspected=self.ports,
            files=files_of(self.base.settings),
            retry=self.plays.keys.add_at_once,
            run_again=self.base.extensions.run_again,
        )

    def ports(self) -> EnginePorts:
        """What people and their tools see."""
        kinds = [watch.gvk for watch in self.base.watches]
        server = str(self.base.client.credentials.server)
        return EnginePorts(
            facts=EngineFacts(
                __version__,
                os.getpid(),
                self.base.clock.now(),
                kinds,
                server,
                _absolute(self.base.environment.get("KUBECONFIG", "")),
            ),
            clock=self.base.clock,
            plurals=lambda: self.reactor.plurals,
            known=self.reactor.known,
            in_flight=self.reconciler.in_flight,
            waiting=self.plays.queue.waiting,
            delayed=self.plays.queue.delayed,
            leads=self.base.election.may_write,
            leader=lambda: self.base.election.leader,
            reconcile=self.plays.keys.add_at_once,
            acts=self.base.extensions.acts,
            stop=self.reconciler.stop_run,
            division=self.base.election.division,
        )

    def work(self) -> EngineWork:
        """What the election begins and ends."""
        return EngineWork(
            queue=self.plays.queue,
            runs=self.reconciler,
            known=self.reactor.known,
            kept=self.base.extensions,
            remembering=(self.reconciler, self.base.extensions, self.base.metrics),
            on_leading_change=self.base.extensions.on_leading_change,
            posting_for=lambda: self.base.events.posting_for,
            keep_brought=self.reactor.keep_brought,
        )


def _absolute(kubeconfig: str) -> str:
    """For commands in other folders."""
    return os.pathsep.join(
        str(Path(part).absolute()) for part in kubeconfig.split(os.pathsep) if part
    )
