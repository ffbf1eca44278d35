"""The configuration files of kubelets, container runtimes and kube-proxy.

Each value that differs from a production node's has its reason beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.localcluster.identities import CONTROL_PLANE, write_identities
from rolecall_dev.localcluster.layout import LOOPBACK, Layout
from rolecall_dev.localcluster.real.enclosure import nodes_folder
from rolecall_dev.localcluster.real.images import PAUSE_IMAGE
from rolecall_dev.localcluster.real.plan import PORTS, Plan, node_name
from rolecall_dev.localcluster.real.probe import cni_folder, find_program
from rolecall_dev.sources import filled_in

_TEMPLATES = Path(__file__).parent


def config_of(layout: Layout, component: str) -> Path:
    return layout.folder / "config" / f"{component}.config"


def state_of(name: str) -> Path:
    """The node's folder in the enclosure's /run: short, since the paths of sockets must be."""
    return Path("/run") / name


def socket_of(name: str) -> Path:
    """Where the node's container runtime listens."""
    return state_of(name) / "containerd.sock"


def kubelet_root(layout: Layout, name: str) -> Path:
    """Where the node's kubelet keeps what pods mount."""
    return nodes_folder(layout) / name / "kubelet"


def volumes_of(layout: Layout, name: str) -> Path:
    """Where the node's persistent volumes are."""
    return nodes_folder(layout) / name / "volumes"


def write_configuration(layout: Layout, plan: Plan, nodes: int) -> None:
    """All files, for a cluster of so many nodes."""
    plugins = cni_folder()
    if plugins is None:
        raise InputError("network plugins were not found")
    folder = layout.folder / "config"
    values = {
        "config": str(folder),
        "pki": str(layout.certificates),
        "kubeconfig": str(layout.component_kubeconfig("kube-proxy")),
        "pods": plan.pod_network,  # one bridge for all nodes: they share the enclosure's network
        "pause": PAUSE_IMAGE,
        "runc": find_program("runc"),
        "plugins": str(plugins),
    }
    network = folder / "network" / "10-pods.conflist"
    network.parent.mkdir(parents=True)
    network.write_text(filled_template("network.json", values))
    # Only name servers read it. Names outside of the cluster do not resolve: pods need no internet.
    (folder / "resolv.conf").write_text(f"nameserver {plan.name_server(1)}\n")
    proxy = filled_template("kube_proxy.yaml", values | {"node": node_name(1)})
    config_of(layout, "kube-proxy").write_text(proxy)
    for node in range(1, nodes + 1):
        name = node_name(node)
        own = values | {
            "node": name,
            "address": plan.node_address(node),
            "name_server": plan.name_server(node),
            "cgroup": f"/{plan.cgroup}/{name}",
            "root": str(nodes_folder(layout) / name),
            "state": str(state_of(name)),
            "socket": str(socket_of(name)),
        }
        for program, template in (("containerd", "containerd.toml"), ("kubelet", "kubelet.yaml")):
            config_of(layout, f"{program}-{name}").write_text(filled_template(template, own))


def filled_template(name: str, values: Mapping[str, str]) -> str:
    """The text of a template beside this module."""
    return filled_in((_TEMPLATES / name).read_text(encoding="utf-8"), values)


# Who is who in a cluster with real nodes: beside the control plane, each kubelet and kube-proxy.

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
