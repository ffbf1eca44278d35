"""Bring up a cluster with real nodes: the order of things, and what is waited for.

What takes long overlaps: container runtimes start and import their images while the API server starts.
Unlike the simulated flavour a real cluster is not mended when its enclosure is gone: containers, mounts
and volumes went with it. Single programs that died are started again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.cluster import Cluster, wait_until_ready
from rolecall_dev.localcluster.layout import Layout, Record
from rolecall_dev.localcluster.programs import PROGRAMS, default_cache, version_of
from rolecall_dev.localcluster.real.cgroups import Cgroups
from rolecall_dev.localcluster.real.components import CONTROLLERS, REAL_SERVERS
from rolecall_dev.localcluster.real.configuration import (
    filled_template,
    kubelet_root,
    socket_of,
    state_of,
    volumes_of,
    write_configuration,
    write_identities_of_real,
)
from rolecall_dev.localcluster.real.enclosure import (
    ENCLOSURE,
    find_enclosure,
    run_inside,
    start_enclosure,
)
from rolecall_dev.localcluster.real.images import COREDNS, write_cluster_images
from rolecall_dev.localcluster.real.network import join, write_number
from rolecall_dev.localcluster.real.plan import PORTS, Plan, node_name
from rolecall_dev.localcluster.real.probe import find_program
from rolecall_dev.localcluster.system import attempts

_READY_S = 120.0
_LOOK_S = 2.0  # between two looks for programs that ended: each reads the process table
_MANIFESTS = Path(__file__).parent / "manifests.yaml"


def start(layout: Layout, nodes: int, programs: Mapping[str, str]) -> Cluster:
    """One start; the caller cleans up if it fails."""
    images = write_cluster_images(default_cache())
    pid = start_enclosure(layout, Path(programs["pause"]))
    plan = join(pid, nodes)
    write_number(layout, plan.number)
    write_identities_of_real(layout, plan, nodes)
    write_configuration(layout, plan, nodes)
    version = version_of(PROGRAMS[0])
    record = Record(PORTS, SystemClock().now(), version, nodes, programs, number=plan.number)
    cluster = Cluster(layout, record)
    names = [node_name(node) for node in range(1, nodes + 1)]
    _prepare(layout, plan, names, pid)
    for server in REAL_SERVERS:
        cluster.component(server).launch()
    with ThreadPoolExecutor() as pool:
        imports = [pool.submit(_start_runtime, cluster, name, images) for name in names]
        wait_until_ready(cluster.api, _READY_S)
        for controller in CONTROLLERS:
            cluster.component(controller).launch()
        applied = pool.submit(_apply_manifests, cluster, plan)
        for name, imported in zip(names, imports, strict=True):
            imported.result()
            cluster.component(f"kubelet-{name}").launch()
        applied.result()
    wait_until_complete(cluster)
    return cluster


def resume(cluster: Cluster, nodes: int) -> None:
    if nodes != cluster.record.nodes or find_enclosure(cluster.layout) is None:
        what = (
            f"has {cluster.record.nodes} real nodes, and their number cannot change"
            if nodes != cluster.record.nodes
            else "has lost its kernel namespaces, and everything that ran in them"
        )
        raise ClusterError(
            f"cluster `{cluster.name}` {what}",
            hint=f"`rolecall cluster down --name {cluster.name}`, then `up --real`, makes a new one",
        )
    running = cluster.running()
    for name in cluster.component_names:
        if name not in running:
            cluster.component(name).launch()
    wait_until_ready(cluster.api, _READY_S)
    wait_until_complete(cluster)


def load_images(cluster: Cluster, archives: Sequence[Path]) -> None:
    """Put images on every node, so that pods can use them without a registry."""
    names = [node_name(node) for node in range(1, cluster.record.nodes + 1)]
    with ThreadPoolExecutor() as pool:
        loads = [pool.submit(_import, cluster.layout, name, archives) for name in names]
    for load in loads:
        load.result()


def _prepare(layout: Layout, plan: Plan, names: Sequence[str], pid: int) -> None:
    folders = []
    for name in names:
        Cgroups().make(plan.cgroup, name)
        folders += [state_of(name), kubelet_root(layout, name), volumes_of(layout, name)]
    run_inside(pid, ["mkdir", "-p", *map(str, folders)])


def _start_runtime(cluster: Cluster, name: str, images: Sequence[Path]) -> None:
    pid = cluster.component(f"containerd-{name}").launch()
    enclosure = find_enclosure(cluster.layout)
    socket = Path(f"/proc/{enclosure}/root{socket_of(name)}")
    for _ in attempts(_READY_S):
        if socket.exists():
            _import(cluster.layout, name, images)
            return
        if (code := processes.exit_code(pid)) is not None:
            break
    raise ClusterError(
        f"the container runtime of `{name}` did not start (it ended with {code}):\n"
        + cluster.component(f"containerd-{name}").log.read_text()[-800:]
    )


def _import(layout: Layout, name: str, archives: Sequence[Path]) -> None:
    pid = find_enclosure(layout)
    if pid is None:
        raise ClusterError(f"cluster `{layout.name}` does not run")
    ctr = [find_program("ctr"), f"--address={socket_of(name)}", "--namespace=k8s.io"]
    for archive in archives:
        run_inside(pid, [*ctr, "images", "import", str(archive.absolute())])


def _apply_manifests(cluster: Cluster, plan: Plan) -> None:
    texts = [_MANIFESTS.read_text()]
    texts += [_name_server(plan, node) for node in range(1, cluster.record.nodes + 1)]
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin="---\n".join(texts))


def _name_server(plan: Plan, node: int) -> str:
    """The objects of a node's own name server, which no other node depends on."""
    values = {"node": node_name(node), "address": plan.name_server(node), "coredns": COREDNS}
    return filled_template("name_server.yaml", values)


def wait_until_complete(cluster: Cluster) -> None:
    """Until pods could be made, would run, and would find each other by name.

    We restart a program that ends meanwhile, like a node's init system: a kubelet exits if a program
    that it needs at its start does not respond in time, and nothing else would restart it.
    """
    restarts: Counter[str] = Counter()
    clock = SystemClock()
    next_look = clock.monotonic() + _LOOK_S
    for _ in attempts(_READY_S, 0.05):
        if not (lack := _lack(cluster)):
            return
        if clock.monotonic() >= next_look:
            restarts.update(_start_again(cluster))
            next_look = clock.monotonic() + _LOOK_S
    raise ClusterError(
        f"{lack} was not ready within {_READY_S:.0f} s" + _last_words(cluster, restarts),
        hint=f"`rolecall cluster logs --name {cluster.name} kubelet-node-1` shows why",
    )


def _start_again(cluster: Cluster) -> Sequence[str]:
    """The programs of which not even the command that enters the enclosure runs any more."""
    there = {one.component for one in processes.find(cluster.layout.folder)}
    ended = [name for name in cluster.component_names if name not in (*there, ENCLOSURE)]
    for name in ended:
        cluster.component(name).launch()
    return ended


def _last_words(cluster: Cluster, restarts: Mapping[str, int]) -> str:
    words = []
    for name, times in restarts.items():
        lines = cluster.component(name).log.read_text(errors="replace").splitlines()
        words.append(f"`{name}` ended {times} times, the last lines of its log:")
        words += [line[:300] for line in lines[-5:]]
    return "".join(f"\n{line}" for line in words)


def _lack(cluster: Cluster) -> str:
    nodes = {node["metadata"]["name"]: node for node in cluster.api.get("/api/v1/nodes")["items"]}
    for number in range(1, cluster.record.nodes + 1):
        node = nodes.get(node_name(number))
        if node is None:
            return f"node `{node_name(number)}`, which its kubelet has not registered,"
        if not _has(node, "Ready"):
            return f"node `{node_name(number)}`{_why(node)}"
    if not cluster.api.get("/api/v1/namespaces/default/serviceaccounts")["items"]:
        return "the service account of namespace `default`"
    servers = cluster.api.get("/apis/apps/v1/namespaces/kube-system/daemonsets")["items"]
    if sum(map(_is_available, servers)) < cluster.record.nodes:
        return "the name server of each node"
    return ""


def _has(thing: Mapping[str, Any], condition: str) -> bool:
    conditions = thing.get("status", {}).get("conditions", [])
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


def _is_available(server: Mapping[str, Any]) -> bool:
    return bool(server.get("status", {}).get("numberReady"))


def _why(node: Mapping[str, Any]) -> str:
    conditions = node.get("status", {}).get("conditions", [])
    words = [one.get("message", "") for one in conditions if one["type"] == "Ready"]
    return f" ({words[0]})" if words and words[0] else ""


# Ways to disturb a real node.
@contextmanager
def frozen_node(cluster: Cluster, name: str) -> Iterator[None]:
    """For the length of a block a node is as a machine whose power failed: silent, and not closed."""
    assert cluster.plan is not None, "simulated nodes have no clock to stop"
    kubelet, cgroup = cluster.component(f"kubelet-{name}"), cluster.plan.cgroup
    with kubelet.frozen():
        Cgroups().freeze(cgroup, name, frozen=True)
        try:
            yield
        finally:
            Cgroups().freeze(cgroup, name, frozen=False)
