"""Who is who in a cluster with real nodes: beside the control plane, each kubelet and kube-proxy."""

from __future__ import annotations

from rolecall.localcluster.certificates import Authority, write_signing_key
from rolecall.localcluster.kubeconfig import CONTEXT_PREFIX, Access, write_kubeconfig
from rolecall.localcluster.layout import LOOPBACK, Layout
from rolecall.localcluster.real.plan import PORTS, Plan, node_name

_SERVICE = "kubernetes.default.svc.cluster.local"


def write_identities(layout: Layout, plan: Plan, nodes: int) -> None:
    """All of them, into the cluster's folder; nothing is shared with another cluster."""
    pki = layout.certificates
    pki.mkdir(mode=0o700)
    authority = Authority(pki)
    authority.server("etcd", (LOOPBACK, "localhost"))
    parts = _SERVICE.split(".")
    names = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    hosts = (LOOPBACK, "localhost", plan.apiserver, plan.first_service, *names)
    authority.server("kube-apiserver", hosts)
    write_signing_key(pki / "service-account.key", pki / "service-account.pub")
    users: dict[str, tuple[str, tuple[str, ...]]] = {
        "kube-controller-manager": ("system:kube-controller-manager", ()),
        "kube-scheduler": ("system:kube-scheduler", ()),
        "kube-proxy": ("system:kube-proxy", ()),
    }
    for node in range(1, nodes + 1):
        name = node_name(node)
        users[f"kubelet-{name}"] = (f"system:node:{name}", ("system:nodes",))
    url = f"https://{plan.apiserver}:{PORTS.apiserver}"
    for component, (user, groups) in users.items():
        pair = authority.client(f"{component}-client", user, groups)
        access = Access(url, authority.certificate, pair)
        write_kubeconfig(layout.component_kubeconfig(component), access)
    for node in range(1, nodes + 1):
        name = node_name(node)
        authority.server(f"kubelet-{name}", (name, plan.node_address(node)))
    admin = authority.client("admin", "admin", ("system:masters",))
    access = Access(url, authority.certificate, admin, name=f"{CONTEXT_PREFIX}{layout.name}")
    write_kubeconfig(layout.kubeconfig, access)
