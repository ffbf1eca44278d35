"""Who is who in a cluster with real nodes: beside the control plane, each kubelet and kube-proxy."""

from __future__ import annotations

from rolecall_dev.localcluster.identities import CONTROL_PLANE, write_identities
from rolecall_dev.localcluster.layout import LOOPBACK, Layout
from rolecall_dev.localcluster.real.plan import PORTS, Plan, node_name

_SERVICE = "kubernetes.default.svc.cluster.local"


def write_identities_of_real(layout: Layout, plan: Plan, nodes: int) -> None:
    local = (LOOPBACK, "localhost")
    parts = _SERVICE.split(".")
    names = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    servers = {
        "etcd": local,
        "kube-apiserver": (*local, plan.apiserver, plan.first_service, *names),
    }
    users = {**CONTROL_PLANE, "kube-proxy": ("system:kube-proxy", ())}
    for node in range(1, nodes + 1):
        name = node_name(node)
        servers[f"kubelet-{name}"] = (name, plan.node_address(node))
        users[f"kubelet-{name}"] = (f"system:node:{name}", ("system:nodes",))
    url = f"https://{plan.apiserver}:{PORTS.apiserver}"
    write_identities(layout, servers, users, url, url)
