"""The configuration files of kubelets, container runtimes and kube-proxy.

Each value that differs from a production node's has its reason beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import InputError
from rolecall_dev.localcluster.identities import CONTROL_PLANE, write_identities
from rolecall_dev.localcluster.layout import LOOPBACK, Layout
from rolecall_dev.localcluster.real.enclosure import nodes_folder
from rolecall_dev.localcluster.real.images import PAUSE_IMAGE
from rolecall_dev.localcluster.real.plan import PORTS, Plan, node_name
from rolecall_dev.localcluster.real.probe import cni_folder, find_program

_CONTAINERD = """\
version = 2
root = "{root}/containerd"
state = "{state}/containerd"
[grpc]
  address = "{state}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{root}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  # Where the right to lower it is missing, as in most containers, no pod would start.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "{runc}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{network}"
"""


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
    folder = layout.folder / "config"
    (folder / "network").mkdir(parents=True)
    (folder / "network" / "10-pods.conflist").write_text(json.dumps(_network(plan)))
    # Only name servers read it. Names outside of the cluster do not resolve: pods need no internet.
    (folder / "resolv.conf").write_text(f"nameserver {plan.name_server(1)}\n")
    config_of(layout, "kube-proxy").write_text(yaml.safe_dump(_kube_proxy(layout, plan)))
    for node in range(1, nodes + 1):
        name = node_name(node)
        config_of(layout, f"containerd-{name}").write_text(_containerd(layout, name))
        kubelet = yaml.safe_dump(_kubelet(layout, plan, node))
        config_of(layout, f"kubelet-{name}").write_text(kubelet)


def _containerd(layout: Layout, name: str) -> str:
    plugins = cni_folder()
    if plugins is None:
        raise InputError("network plugins were not found")
    return _CONTAINERD.format(
        root=nodes_folder(layout) / name,
        state=state_of(name),
        pause=PAUSE_IMAGE,
        runc=find_program("runc"),
        plugins=plugins,
        network=layout.folder / "config" / "network",
    )


def _network(plan: Plan) -> dict[str, Any]:
    """One bridge for the pods of all nodes: they share the enclosure's network."""
    addresses = {
        "type": "host-local",
        "dataDir": "/run/cni",
        "ranges": [[{"subnet": plan.pod_network}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "pods",
        "isGateway": True,
        "hairpinMode": True,
        "ipam": addresses,
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, ports]}


def _kube_proxy(layout: Layout, plan: Plan) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(layout.component_kubeconfig("kube-proxy"))},
        "mode": "nftables",
        "hostnameOverride": node_name(1),  # one for all nodes, since they share a network
        "clusterCIDR": plan.pod_network,
        "oomScoreAdj": 0,
        # Of the whole kernel: left as they are.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }


def _kubelet(layout: Layout, plan: Plan, node: int) -> dict[str, Any]:
    name, pki = node_name(node), layout.certificates
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": plan.node_address(node),
        "healthzBindAddress": plan.node_address(node),
        "containerRuntimeEndpoint": f"unix://{socket_of(name)}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{plan.cgroup}/{name}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "enforceNodeAllocatable": [],
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / f"kubelet-{name}.crt"),
        "tlsPrivateKeyFile": str(pki / f"kubelet-{name}.key"),
        "clusterDNS": [plan.name_server(node)],
        "clusterDomain": "cluster.local",
        "resolvConf": str(layout.folder / "config" / "resolv.conf"),
        "podLogsDir": str(nodes_folder(layout) / name / "logs"),
        # Images cannot be pulled again, so none is ever collected.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {
            "memory.available": "50Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "nodefs.inodesFree": "1%",
        },
        "nodeStatusUpdateFrequency": "5s",
        # Secrets and ConfigMaps are watched, so they reach pods at once; the rest is a period.
        "syncFrequency": "10s",
    }


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
