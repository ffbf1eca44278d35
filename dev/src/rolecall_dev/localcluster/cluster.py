"""A handle on a cluster that is up: where it is, what runs, and ways to disturb it.

The handle keeps nothing but names of files; what runs is asked of the process table each time. So any
number of handles in any number of processes agree.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.api import Api
from rolecall_dev.localcluster.components import COMPONENTS, arguments_for, as_arguments
from rolecall_dev.localcluster.identities import KeyPair
from rolecall_dev.localcluster.layout import LOOPBACK, Layout, Record
from rolecall_dev.localcluster.owner import dismiss
from rolecall_dev.localcluster.processes import Command, Running
from rolecall_dev.localcluster.real.components import command_of, component_names
from rolecall_dev.localcluster.real.enclosure import innermost
from rolecall_dev.localcluster.real.plan import Plan
from rolecall_dev.localcluster.relay import Relay
from rolecall_dev.localcluster.system import attempts, captured

# An API server waits a minute for its watches to end; two seconds are enough for every request.
_GRACE_S = 2.0
# For one answer while a cluster starts: asking again sooner would only add to what a busy machine has
# to do, and it would never be in time.
PATIENCE_S = 10.0
_NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cluster:
    """A control plane that came up once, and its parts."""

    layout: Layout
    record: Record
    # Only of a cluster that was brought up with relays; their threads live in this process.
    relays: Mapping[str, Relay] = field(default_factory=dict)
    # Only of a cluster that ends with this process: the guard, whose pipe must stay open.
    guard: subprocess.Popen[bytes] | None = None
    owner: int | None = None  # the lock that says so; `let_go` closes it

    @property
    def name(self) -> str:
        return self.layout.name

    @property
    def kubeconfig(self) -> Path:
        return self.layout.kubeconfig

    @property
    def url(self) -> str:
        """Where the API server is dialled."""
        return f"https://{self.host}:{self.record.ports.apiserver_door}"

    @property
    def plan(self) -> Plan | None:
        """The addresses of a cluster with real nodes; None where they are simulated."""
        return None if self.record.number is None else Plan(self.record.number)

    @property
    def host(self) -> str:
        return LOOPBACK if self.plan is None else self.plan.apiserver

    @property
    def component_names(self) -> tuple[str, ...]:
        """Every program that the cluster needs."""
        return COMPONENTS if self.plan is None else component_names(self.record.nodes)

    @property
    def api(self) -> Api:
        """Plain requests as the administrator."""
        pki = self.layout.certificates
        pair = KeyPair(pki / "admin.crt", pki / "admin.key")
        return Api(self.record.ports.apiserver, pki / "ca.crt", pair, self.host)

    @property
    def apiserver(self) -> Component:
        """The API server, to be stopped, frozen, slowed down."""
        return Component(self, "kube-apiserver")

    @property
    def etcd(self) -> Component:
        return Component(self, "etcd")

    def let_go(self) -> None:
        """Close the relays and dismiss the guard, once the cluster has been taken down."""
        for relay in self.relays.values():
            relay.close()
        if self.guard is not None:
            dismiss(self.guard)
        if self.owner is not None:
            os.close(self.owner)

    def component(self, name: str) -> Component:
        return Component(self, name)

    def running(self) -> dict[str, Running]:
        """What runs now, by component."""
        found = processes.find(self.layout.folder)
        if self.plan is not None:
            return dict(innermost(found))
        return {one.component: one for one in found if one.component in COMPONENTS}

    def is_complete(self) -> bool:
        """Whether every component runs and the API server says that it is ready."""
        return set(self.running()) == set(self.component_names) and self.api.is_ready()

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        result = self._run_kubectl(arguments, stdin)
        if result.returncode:
            raise ClusterError(f"kubectl {' '.join(arguments)} failed: {result.stderr.strip()}")
        return result.stdout

    def refusal(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator and return what it had against it; empty: nothing."""
        result = self._run_kubectl(arguments, stdin)
        return result.stderr.strip() if result.returncode else ""

    def kubectl_json(self, *arguments: str) -> Any:
        """The same for `-o json`, parsed."""
        return json.loads(self.kubectl(*arguments, "-o", "json"))

    def _run_kubectl(
        self, arguments: Sequence[str], stdin: str | None
    ) -> subprocess.CompletedProcess[str]:
        program = self.record.programs["kubectl"]
        return captured([program, f"--kubeconfig={self.kubeconfig}", *arguments], input=stdin)


@dataclass(frozen=True, slots=True)
class Component:
    """One program of a cluster. Whatever is done to it, the data stays."""

    cluster: Cluster
    name: str

    @property
    def running(self) -> Running | None:
        return self.cluster.running().get(self.name)

    @property
    def log(self) -> Path:
        return self.cluster.layout.logs / f"{self.name}.log"

    def stop(self) -> None:
        """End it politely, as an upgrade does."""
        if running := self.running:
            processes.end(running, grace_s=_GRACE_S)

    def kill(self) -> None:
        """End it at once, as the kernel does when memory is short."""
        if running := self.running:
            processes.end(running)

    def start(self, *, wait: bool = True, more: Mapping[str, str] = _NOTHING_MORE) -> None:
        """Start it again on the same port and data; nothing happens when it runs."""
        if self.running is None:
            self.launch(more)
        if wait and self.name in ("etcd", "kube-apiserver"):
            self.cluster_becomes_ready()

    def launch(self, more: Mapping[str, str] = _NOTHING_MORE) -> int:
        """Start it, whatever runs already, with `more` flags where nodes are simulated."""
        layout, record = self.cluster.layout, self.cluster.record
        if self.cluster.plan is not None:
            return processes.start(command_of(self.name, layout, record))
        arguments = arguments_for(self.name, layout, record.ports) + as_arguments(more)
        program = record.programs[self.name]
        return processes.start(Command(self.name, [program, *arguments], layout.folder))

    def restart(self) -> None:
        """Stop it politely, start it again, wait until the API server is ready."""
        self.stop()
        self.start()

    def freeze(self) -> None:
        """Stop its clock: connections stay open and nothing answers."""
        if running := self.running:
            processes.send(running, signal.SIGSTOP)

    def thaw(self) -> None:
        if running := self.running:
            processes.send(running, signal.SIGCONT)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    @property
    def relay(self) -> Relay:
        """The relay in front of it, to slow down, cut or refuse connections."""
        try:
            return self.cluster.relays[self.name]
        except KeyError:
            raise ClusterError(
                f"cluster `{self.cluster.name}` has no relay in front of `{self.name}`",
                hint="bring it up with `Wanted(relays=True)`",
            ) from None

    @contextmanager
    def slow(self, delay_s: float) -> Iterator[None]:
        """Every answer and every request later by this much, for the length of a block."""
        self.relay.delay_s = delay_s
        try:
            yield
        finally:
            self.relay.delay_s = 0.0

    def cluster_becomes_ready(self, timeout_s: float = 60) -> None:
        wait_until_ready(self.cluster.api, timeout_s)


def wait_until_ready(api: Api, timeout_s: float) -> None:
    """Return once the API server is ready; raise when it is not in time."""
    for _ in attempts(timeout_s, 0.05):
        if api.is_ready(PATIENCE_S):
            return
    raise ClusterError(
        f"the API server was not ready within {timeout_s:.0f} s",
        hint="`rolecall cluster logs kube-apiserver` shows what it says",
    )
