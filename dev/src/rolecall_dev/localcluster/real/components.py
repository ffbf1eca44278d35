"""The programs of a cluster with real nodes: their names, and the command line of each.

The control plane is the one of the simulated flavour, with the flags changed that nodes and pods care
for: it listens where pods can reach it, and knows how to talk to kubelets.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster.components import as_arguments, flags_of, read_flags
from rolecall_dev.localcluster.layout import Layout, Record
from rolecall_dev.localcluster.processes import Command
from rolecall_dev.localcluster.real.configuration import config_of, kubelet_root
from rolecall_dev.localcluster.real.enclosure import ENCLOSURE, entering, find_enclosure
from rolecall_dev.localcluster.real.plan import Plan, node_name
from rolecall_dev.localcluster.real.probe import find_program

_FLAGS = Path(__file__).parent / "flags.yaml"
REAL_SERVERS = ("etcd", "kube-apiserver")
CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kube-proxy", "provisioner")


def component_names(nodes: int) -> tuple[str, ...]:
    """All of them, in the order of starting."""
    names = [node_name(node) for node in range(1, nodes + 1)]
    runtimes = [f"containerd-{name}" for name in names]
    kubelets = [f"kubelet-{name}" for name in names]
    return (ENCLOSURE, *REAL_SERVERS, *runtimes, *CONTROLLERS, *kubelets)


def command_of(component: str, layout: Layout, record: Record) -> Command:
    """How to start a component inside of the enclosure, which must be there."""
    pid = find_enclosure(layout)
    if pid is None or component == ENCLOSURE:
        raise ClusterError(
            f"cluster `{layout.name}` has lost its kernel namespaces, and everything that ran in them",
            hint=f"`rolecall cluster down --name {layout.name}`, then `up --real`, makes a new one",
        )
    argv = entering(pid, _argv(component, layout, record))
    return Command(component, argv, layout.folder)


def _argv(component: str, layout: Layout, record: Record) -> Sequence[str]:
    assert record.number is not None, "a cluster with real nodes has a number"
    plan, programs = Plan(record.number), record.programs
    kind, _, node = component.partition("-node-")
    match kind:
        case "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler":
            changes = _flags(component, layout, plan)
            flags = {**flags_of(component, layout, record.ports), **changes}
            wanted = {name: value for name, value in flags.items() if value}
            return [programs[component], *as_arguments(wanted)]
        case "containerd":
            return [find_program("containerd"), f"--config={config_of(layout, component)}"]
        case "kubelet":
            return [programs["kubelet"], *as_arguments(_flags(kind, layout, plan, f"node-{node}"))]
        case "kube-proxy":
            return [programs["kube-proxy"], f"--config={config_of(layout, component)}"]
        case "provisioner":
            module = "rolecall_dev.localcluster.real.provisioner"
            return [sys.executable, "-m", module, str(layout.folder), str(plan.number)]
    raise InputError(f"component `{component}` is not one of this cluster")


def _flags(component: str, layout: Layout, plan: Plan, name: str = "") -> dict[str, str]:
    """Those of a kubelet; else what is different from the simulated flavour."""
    values = {
        "pki": str(layout.certificates),
        "apiserver": plan.apiserver,
        "services": plan.service_network,
        "config": str(config_of(layout, f"kubelet-{name}")),
        "kubeconfig": str(layout.component_kubeconfig(f"kubelet-{name}")),
        "root": str(kubelet_root(layout, name)),
        "node": name,
        "address": plan.node_address(int(name.rpartition("-")[2] or 0)),
    }
    return read_flags(_FLAGS, component, values)
