"""The command line of each component: pure, no I/O, every flag that is not obvious with its reason.

All of them listen on 127.0.0.1 only, with TLS and client certificates: on a machine that several people
share, etcd without them would hand every Secret to anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.localcluster.layout import Layout, Ports

KWOK_STAGES = Path(__file__).parent / "stages.yaml"
SERVICE_CIDR = "10.96.0.0/16"
# In the order of starting. The clients wait for an API server by looking once a second; started when
# it is ready they find it at once, and leave the processor to it until then.
SERVERS = ("etcd", "kube-apiserver")
CLIENTS = ("kube-controller-manager", "kube-scheduler", "kwok")
COMPONENTS = (*SERVERS, *CLIENTS)


def arguments_for(component: str, layout: Layout, ports: Ports) -> list[str]:
    """The flags of a component, without the program itself."""
    return as_arguments(flags_of(component, layout, ports))


def as_arguments(flags: Mapping[str, str]) -> list[str]:
    """Flags as a command line has them."""
    return [f"--{name}={value}" for name, value in flags.items()]


def flags_of(component: str, layout: Layout, ports: Ports) -> dict[str, str]:
    match component:
        case "etcd":
            flags = _etcd(layout, ports)
        case "kube-apiserver":
            flags = _apiserver(layout, ports)
        case "kube-controller-manager":
            flags = _controller_manager(layout)
        case "kube-scheduler":
            flags = _scheduler(layout)
        case "kwok":
            flags = _kwok(layout)
        case _:
            raise InputError(
                f"component `{component}` is not one of {', '.join(COMPONENTS)}",
            )
    return flags


def _etcd(layout: Layout, ports: Ports) -> dict[str, str]:
    client = f"https://127.0.0.1:{ports.etcd}"
    peer = f"https://127.0.0.1:{ports.etcd_peer}"
    pki = layout.certificates
    flags = {
        "name": "local",
        "data-dir": str(layout.data),
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"local={peer}",
        # The data need not survive a power cut, and fsync is most of etcd's time on a laptop.
        "unsafe-no-fsync": "true",
        # Default: 100,000 entries, 64 MB files. A small cluster keeps little history.
        "snapshot-count": "10000",
        "auto-compaction-retention": "5m",
        "quota-backend-bytes": str(4 * 1024**3),
        "log-level": "warn",
    }
    for prefix in ("", "peer-"):
        flags |= {
            f"{prefix}cert-file": str(pki / "etcd.crt"),
            f"{prefix}key-file": str(pki / "etcd.key"),
            f"{prefix}trusted-ca-file": str(pki / "ca.crt"),
            f"{prefix}client-cert-auth": "true",
        }
    return flags


def _apiserver(layout: Layout, ports: Ports) -> dict[str, str]:
    pki = layout.certificates
    return {
        "etcd-servers": f"https://127.0.0.1:{ports.etcd_door}",
        "etcd-cafile": str(pki / "ca.crt"),
        "etcd-certfile": str(pki / "etcd.crt"),
        "etcd-keyfile": str(pki / "etcd.key"),
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": str(ports.apiserver),
        "tls-cert-file": str(pki / "kube-apiserver.crt"),
        "tls-private-key-file": str(pki / "kube-apiserver.key"),
        "client-ca-file": str(pki / "ca.crt"),
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": str(pki / "service-account.pub"),
        "service-account-signing-key-file": str(pki / "service-account.key"),
        "service-cluster-ip-range": SERVICE_CIDR,
        # 127.0.0.1 is refused as the endpoint of the `kubernetes` Service; no pod dials it here.
        "endpoint-reconciler-type": "none",
        "allow-privileged": "true",
        # `down` and restarts in tests should not wait for watches to end by themselves.
        "shutdown-delay-duration": "0s",
        # Several load generators at once are what the cluster is for.
        "max-requests-inflight": "3000",
        "max-mutating-requests-inflight": "1000",
        "profiling": "false",
    }


def _controller_manager(layout: Layout) -> dict[str, str]:
    pki = layout.certificates
    return {
        **_client("kube-controller-manager", layout),
        "controllers": "*",
        "service-account-private-key-file": str(pki / "service-account.key"),
        "root-ca-file": str(pki / "ca.crt"),
        "cluster-signing-cert-file": str(pki / "ca.crt"),
        "cluster-signing-key-file": str(pki / "ca.key"),
        # RBAC is proved as it is elsewhere: each controller under its own name.
        "use-service-account-credentials": "true",
        # The provisioner behind the default StorageClass.
        "enable-hostpath-provisioner": "true",
        # Default: 15 s. A claim that waits for its class to appear should not wait that long.
        "pvclaimbinder-sync-period": "2s",
        # The default of 20 requests per second would make tests wait for garbage collection.
        "kube-api-qps": "500",
        "kube-api-burst": "1000",
    }


def _scheduler(layout: Layout) -> dict[str, str]:
    return {
        **_client("kube-scheduler", layout),
        "kube-api-qps": "500",
        "kube-api-burst": "1000",
    }


def _client(component: str, layout: Layout) -> dict[str, str]:
    kubeconfig = str(layout.component_kubeconfig(component))
    return {
        "kubeconfig": kubeconfig,
        "leader-elect": "false",  # there is only one, and an election would cost seconds at the start
        "secure-port": "0",  # nobody reads its metrics: one port less to find and to guard
        "profiling": "false",
    }


def _kwok(layout: Layout) -> dict[str, str]:
    return {
        "kubeconfig": str(layout.component_kubeconfig("kwok")),
        "config": str(KWOK_STAGES),
        "manage-all-nodes": "true",
        "node-ip": "10.0.0.1",
        "cidr": "10.244.0.0/16",
        "node-port": "0",  # no kubelet API: nothing runs in these pods, so no logs and no exec
        "node-lease-duration-seconds": "40",  # as a kubelet's
    }
