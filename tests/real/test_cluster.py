"""A cluster with real nodes: what it can do, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster import (
    APP,
    ETCD,
    PROGRAMS,
    REAL_PROGRAMS,
    Cluster,
    Wanted,
    bring_up,
    etcd_versions,
    find_binaries,
    frozen_node,
    processes,
    status_of,
    temporary_cluster,
)
from rolecall_dev.localcluster.layout import Layout
from tests.fixtures.cluster import unique_name
from tests.fixtures.eventually import eventually
from tests.fixtures.real_cluster import alone_on_the_machine
from tests.real.world import PATIENCE_S, World, app_pod, condition

SETTINGS = ("kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom")
FOLDERS = ("/var/lib", "/var/log", "/var/lib/cni", "/run", "/sys/class/net", "/tmp")


def traces(cluster: Cluster | None = None) -> dict[str, object]:
    """What a kubelet would change on a machine; of /tmp what is not another program's business."""
    found: dict[str, object] = {
        setting: (Path("/proc/sys") / setting).read_text() for setting in SETTINGS
    }
    for folder in map(Path, FOLDERS):
        names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        found[str(folder)] = {
            name for name in names if "hostpath" in name or folder != Path("/tmp")
        }
    found["mounts"] = Path("/proc/self/mountinfo").read_text().count("rolecall")
    if cluster is not None and cluster.plan is not None:
        found["cgroups"] = list(Path("/sys/fs/cgroup").glob(f"*/{cluster.plan.cgroup}"))
    return found


@pytest.fixture
def alone(real_cluster: Cluster) -> Iterator[None]:
    """While the machine is compared with what it was."""
    with alone_on_the_machine():
        yield


@pytest.mark.parametrize("end", ["politely", "by kill -9"])
def test_nothing_is_left_however_a_cluster_ends(
    real_cluster: Cluster, alone: None, end: str
) -> None:
    before = traces()
    binaries = find_binaries(programs=(*PROGRAMS, *REAL_PROGRAMS))
    with temporary_cluster(Wanted(name=unique_name(), real=True), binaries) as cluster:
        assert cluster.plan is not None
        assert cluster.plan.link in {entry.name for entry in Path("/sys/class/net").iterdir()}
        if end == "by kill -9":
            first = cluster.component("enclosure").running
            assert first is not None
            os.kill(first.pid, signal.SIGKILL)
            eventually(lambda: not cluster.running())
            status = status_of(cluster.layout)
            assert status is not None
            assert status.state == "stopped"
            with pytest.raises(ClusterError, match="lost its kernel namespaces"):
                bring_up(Wanted(name=cluster.name, kept=False, real=True), binaries)
    assert traces(cluster) == before | {"cgroups": []}
    assert not cluster.layout.folder.exists()


def test_kubelet_that_ends_at_the_start_of_its_cluster_is_started_again(
    real_cluster: Cluster,
) -> None:
    name = unique_name()
    folder = Layout.named(name, None).folder

    def end_one() -> list[str]:
        eventually(lambda: running("kubelet-node-1"), timeout_s=PATIENCE_S)
        found = running("kubelet-node-1")
        for one in found:
            processes.end(one)
        return [one.component for one in found]

    def running(component: str) -> list[processes.Running]:
        return [one for one in processes.find(folder) if one.component == component]

    binaries = find_binaries(programs=(*PROGRAMS, *REAL_PROGRAMS))
    with ThreadPoolExecutor() as pool:
        ended = pool.submit(end_one)
        with temporary_cluster(Wanted(name=name, real=True), binaries) as cluster:
            assert ended.result()
            assert cluster.is_complete()


def test_flavour_of_a_cluster_cannot_change(real_cluster: Cluster) -> None:
    wanted = Wanted(name=real_cluster.name, root=real_cluster.layout.folder.parent)
    with pytest.raises(InputError, match="its nodes are real"):
        bring_up(wanted, find_binaries())


def test_program_that_died_is_started_again(real_cluster: Cluster) -> None:
    real_cluster.component("kube-proxy").kill()
    binaries = find_binaries(programs=(*PROGRAMS, *REAL_PROGRAMS))
    bring_up(Wanted(name=real_cluster.name, nodes=2, kept=False, real=True), binaries)
    assert real_cluster.is_complete()


def test_pods_of_others_than_root_write_to_volumes_and_are_reached_by_address(
    world: World,
) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}},
    }
    pod = app_pod("server", "data")
    pod["spec"]["containers"][0]["args"] = ["serve"]
    world.apply(claim, pod)
    world.kubectl("wait", "--for=condition=Ready", "pod/server", f"--timeout={PATIENCE_S:.0f}s")
    world.execute("server", "app", "write", "/data/x", "mine")
    assert world.execute("server", "app", "read", "/data/x") == "mine"
    assert world.get("pvc", "data")["status"]["capacity"]["storage"] == "64Mi"
    address = world.get("pod", "server")["status"]["podIP"]

    def hostname() -> str:
        with urllib.request.urlopen(f"http://{address}:8080/", timeout=5) as answer:
            text: str = answer.read().decode()
            return text.strip()

    assert eventually(hostname, ignoring=(OSError,)) == "server"
    assert world.get("pod", "server")["spec"]["containers"][0]["image"] == APP


def test_frozen_node_is_noticed_and_comes_back(world: World) -> None:
    def ready(node: dict[str, object]) -> str:
        return str(condition(node, "Ready").get("status"))

    with frozen_node(world.cluster, "node-2"):
        eventually(
            lambda: ready(world.get("node", "node-2")),
            lambda status: status == "Unknown",
            timeout_s=PATIENCE_S,
        )
    eventually(
        lambda: ready(world.get("node", "node-2")),
        lambda status: status == "True",
        timeout_s=PATIENCE_S,
    )


@pytest.mark.parametrize(("frozen", "other"), [("node-1", "node-2"), ("node-2", "node-1")])
def test_pods_resolve_names_while_the_other_node_is_frozen(
    world: World, frozen: str, other: str
) -> None:
    name = f"names-on-{other}"
    labels = {"app": name}
    container = {
        "name": "etcd",
        "image": f"{ETCD}:v{etcd_versions()[-1]}",
        "command": ["etcd"],
        "args": [
            "--data-dir=/tmp/data",
            "--listen-client-urls=http://0.0.0.0:2379",
            f"--advertise-client-urls=http://{name}:2379",
        ],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 2379}, "periodSeconds": 1},
    }
    world.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "nodeName": other,
                "terminationGracePeriodSeconds": 1,
                "containers": [
                    container | {"volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}
                ],
                "volumes": [{"name": "tmp", "emptyDir": {}}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            # Its name is the pod's address: the claim is about names, not about Services.
            "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 2379}]},
        },
    )
    world.kubectl("wait", "--for=condition=Ready", f"pod/{name}", f"--timeout={PATIENCE_S:.0f}s")
    ask = (name, "etcdctl", f"--endpoints=http://{name}.{world.namespace}:2379", "member", "list")
    eventually(lambda: world.execute(*ask), timeout_s=PATIENCE_S, ignoring=(ClusterError,))
    with frozen_node(world.cluster, frozen):
        world.execute(*ask)
