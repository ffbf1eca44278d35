"""Who is who in a cluster: the keys, certificates and kubeconfigs of its components and its admin."""

from __future__ import annotations

from collections.abc import Mapping

from rolecall.localcluster.certificates import Authority, write_signing_key
from rolecall.localcluster.kubeconfig import CONTEXT_PREFIX, Access, write_kubeconfig
from rolecall.localcluster.layout import Layout, Ports

_HOSTS = ("127.0.0.1", "localhost", "10.96.0.1", "kubernetes", "kubernetes.default.svc")
_COMPONENT_USERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
    "kwok": ("kwok", ("system:masters",)),  # it plays every kubelet, and writes any status
}


def write_identities(layout: Layout, ports: Ports) -> None:
    """All of them, into the cluster's folder; nothing is shared with another cluster."""
    layout.certificates.mkdir(mode=0o700)
    authority = Authority(layout.certificates)
    authority.server("etcd", _HOSTS[:2])
    authority.server("kube-apiserver", _HOSTS)
    pki = layout.certificates
    write_signing_key(pki / "service-account.key", pki / "service-account.pub")
    direct = f"https://127.0.0.1:{ports.apiserver}"
    for component, (user, groups) in _COMPONENT_USERS.items():
        pair = authority.client(component, user, groups)
        access = Access(direct, authority.certificate, pair)
        write_kubeconfig(layout.component_kubeconfig(component), access)
    admin = authority.client("admin", "admin", ("system:masters",))
    door = f"https://127.0.0.1:{ports.apiserver_door}"
    name = f"{CONTEXT_PREFIX}{layout.name}"
    write_kubeconfig(layout.kubeconfig, Access(door, authority.certificate, admin, name=name))
