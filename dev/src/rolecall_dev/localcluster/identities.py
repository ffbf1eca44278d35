"""Who is who in a cluster: the keys, certificates and kubeconfigs of its components and its admin."""

from __future__ import annotations

from collections.abc import Mapping

from rolecall_dev.localcluster.certificates import Authority, write_signing_key
from rolecall_dev.localcluster.kubeconfig import CONTEXT_PREFIX, ClusterAccess, write_kubeconfig
from rolecall_dev.localcluster.layout import Layout, Ports

Texts = tuple[str, ...]

_HOSTS = ("127.0.0.1", "localhost", "10.96.0.1", "kubernetes", "kubernetes.default.svc")
_SERVERS = {"etcd": _HOSTS[:2], "kube-apiserver": _HOSTS}
CONTROL_PLANE: Mapping[str, tuple[str, Texts]] = {
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
}
_KWOK = {"kwok": ("kwok", ("system:masters",))}  # it plays every kubelet, and writes any status


def write_identities_of_simulated(layout: Layout, ports: Ports) -> None:
    url = f"https://127.0.0.1:{ports.apiserver}"
    admin_url = f"https://127.0.0.1:{ports.apiserver_door}"
    write_identities(layout, _SERVERS, {**CONTROL_PLANE, **_KWOK}, url, admin_url)


def write_identities(
    layout: Layout,
    servers: Mapping[str, Texts],  # component -> the hosts that it is dialled by
    users: Mapping[str, tuple[str, Texts]],  # component -> its user and groups
    url: str,
    admin_url: str,
) -> None:
    """All of them, into the cluster's folder; nothing is shared with another cluster."""
    pki = layout.certificates
    pki.mkdir(mode=0o700)
    authority = Authority(pki)
    for component, hosts in servers.items():
        authority.server(component, hosts)
    write_signing_key(pki / "service-account.key", pki / "service-account.pub")
    for component, (user, groups) in users.items():
        pair = authority.client(f"{component}-client", user, groups)
        access = ClusterAccess(url, authority.certificate, pair)
        write_kubeconfig(layout.component_kubeconfig(component), access)
    admin = authority.client("admin", "admin", ("system:masters",))
    name = f"{CONTEXT_PREFIX}{layout.name}"
    access = ClusterAccess(admin_url, authority.certificate, admin, name=name)
    write_kubeconfig(layout.kubeconfig, access)
