"""What the outside may ask of a running engine: metrics, probes, and the port where roles set metrics.

All of them are open before the first run starts, on every replica. Readiness means that plays could
reach the API server and that every kind was listed once, or is known to wait for its CRD or a right:
a kind that cannot be watched must not keep the others' Deployment from becoming ready. Nor does it wait
for kinds that can be listed only once this replica is ready.
"""

from __future__ import annotations

import json
import logging
from contextlib import AsyncExitStack
from pathlib import Path

from rolecall.clock import Clock
from rolecall.extending import Endpoints
from rolecall.kube import Client
from rolecall.listening import Address, parse_address, served, tls_for_server
from rolecall.metrics import (
    EngineMetrics,
    Probe,
    Reviewer,
    RoleMetrics,
    metrics_app,
    probes_app,
    role_metrics_app,
)
from rolecall.proxy import Proxy
from rolecall.reactor import Reactor, SyncState
from rolecall.settings import Settings

_logger = logging.getLogger(__name__)
_LOOPBACK = "127.0.0.1"
# Where `osdk_metric` sends to by default; this variable names any other port.
KNOWN_PORT = 5050
_VARIABLE = "ROLECALL_ROLE_METRICS"


class Listeners:
    """Opens them and says on which ports they are."""

    def __init__(self, settings: Settings, metrics: EngineMetrics, clock: Clock) -> None:
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._roles = RoleMetrics(lambda: clock.now().timestamp(), metrics.taken_names)
        self.endpoints = Endpoints()

    async def open_to_roles(self, stack: AsyncExitStack) -> dict[str, str]:
        """Open the port where roles set metrics; returns what plays must have in their environment."""
        wanted = self._settings.metrics.role_metrics_port
        address = Address(_LOOPBACK, wanted)
        app, flag = role_metrics_app(self._roles), "role-metrics-port"
        listener = served(app, address, what="metrics of roles", flag=flag)
        port = await stack.enter_async_context(listener)
        self.endpoints.ports["role_metrics"] = port
        return {} if port == KNOWN_PORT else {_VARIABLE: f"http://{_LOOPBACK}:{port}/metrics"}

    async def open(
        self, stack: AsyncExitStack, client: Client, reactor: Reactor, proxy: Proxy
    ) -> None:
        """Open all other listeners until the stack ends."""
        settings, ports = self._settings.metrics, self.endpoints.ports
        ports["proxy"] = proxy.port
        flag = "metrics-bind-address"
        if address := parse_address(settings.bind, flag):
            reviewer = Reviewer(client, self._clock) if settings.requires_rbac else None
            tls = tls_for_server(self._clock.now()) if settings.is_secure else None
            app = metrics_app(self._metrics, self._roles, reviewer)
            listener = served(app, address, what="metrics", flag=flag, tls=tls)
            ports["metrics"] = await stack.enter_async_context(listener)
        flag = "health-probe-bind-address"
        if address := parse_address(settings.probe_bind, flag):
            app = probes_app(self._probes(reactor, proxy))
            listener = served(app, address, what="probes", flag=flag)
            ports["probes"] = await stack.enter_async_context(listener)
        if self._settings.ports_file is not None:
            _write_ports(self._settings.ports_file, ports)

    def _probes(self, reactor: Reactor, proxy: Proxy) -> list[Probe]:
        endpoints = self.endpoints

        def streams() -> str:
            late = [gvk for gvk, how in reactor.states.items() if how is SyncState.STARTING]
            waits = [str(gvk) for gvk in late if (gvk.group, gvk.kind) not in endpoints.late_kinds]
            return f"not listed yet: {', '.join(waits)}" if waits else ""

        def proxy_listens() -> str:
            return "" if proxy.is_listening else "does not listen"

        def alive() -> str:
            return ""  # the handler runs on the loop that does everything else

        checks = {"readyz": alive, "streams": streams, "proxy": proxy_listens, **endpoints.checks}
        return [
            Probe("healthz", {"healthz": alive, "ping": alive}),
            Probe("readyz", checks, notes=endpoints.notes),
        ]


def _write_ports(file: Path, ports: dict[str, int]) -> None:
    """Whole or not at all: a process that waits for the file must not read half of it."""
    draft = file.with_name(f"{file.name}.new")
    draft.write_text(json.dumps(ports))
    draft.replace(file)
