"""Replicas of the game: each a process with a login and a line to the API server of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

from rolecall_dev.localcluster import Cluster, ClusterAccess, write_kubeconfig
from rolecall_dev.localcluster.relay import Relay
from tests.e2e.engine import EngineProcess

FOLDER = Path(__file__).parent / "project"
ELECTION = "dice"
SHARDS = 16
LEASE_S, RENEW_S = 8.0, 5.0
_RBAC = "rbac.authorization.k8s.io"


class Player:
    """One replica. All of them have this machine's host name, as two that are set up wrong would."""

    def __init__(self, cluster: Cluster, namespace: str, folder: Path, name: str) -> None:
        self.name = name
        self.is_disturbed = False
        self._relay = Relay(_free_port(), int(cluster.url.rpartition(":")[2]))
        self._relay.start()
        scratch = folder / name
        self.engine = EngineProcess(
            FOLDER,
            scratch,
            kubeconfig=_login(cluster, namespace, folder / f"{name}.kubeconfig", self),
            flags=(
                f"--shards={SHARDS}",
                f"--leader-election-id={ELECTION}",
                f"--leader-election-namespace={namespace}",
                f"--leader-elect-lease-duration={LEASE_S:g}s",
                f"--leader-elect-renew-deadline={RENEW_S:g}s",
                "--graceful-shutdown-timeout=20s",
            ),
            environment={"WATCH_NAMESPACE": namespace, "REPLICA": name},
        )

    @property
    def line(self) -> Relay:
        """To the API server."""
        return self._relay

    def freeze(self, *, whole: bool) -> None:
        """Stop it, with its warm host and runs where the whole machine sleeps."""
        self._frozen = [self.engine.process.pid, *(_descendants(self.engine.process.pid) * whole)]
        for pid in self._frozen:
            _signal(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        for pid in self._frozen:
            _signal(pid, signal.SIGCONT)

    def close(self) -> None:
        """End it, and its line."""
        self._relay.release()
        self.engine.clean_up()
        self._relay.close()


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _login(cluster: Cluster, namespace: str, file: Path, player: Player) -> Path:
    """An account of its own: the audit log names it."""
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    cluster.api.create(accounts, {"metadata": {"name": player.name}})
    binding = {
        "metadata": {"name": f"{namespace}-{player.name}"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": player.name, "namespace": namespace}],
    }
    cluster.api.create(f"/apis/{_RBAC}/v1/clusterrolebindings", binding)
    request = {"spec": {"expirationSeconds": 24 * 3600}}
    token = cluster.api.create(f"{accounts}/{player.name}/token", request)["status"]["token"]
    url = f"https://127.0.0.1:{player.line.port}"
    authority = cluster.layout.certificates / "ca.crt"
    return write_kubeconfig(file, ClusterAccess(url, authority, token=token, namespace=namespace))
