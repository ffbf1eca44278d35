"""What `make undeploy` leaves: nothing, and no finalizer without an engine holds it up."""

from __future__ import annotations

import time

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import Cluster, etcd_versions
from tests.fixtures.eventually import eventually
from tests.real import images
from tests.real.etcd import Etcd
from tests.real.operator import NAMESPACE, Operator
from tests.real.world import PATIENCE_S, World, mapping, names_outside_namespaces

GROUPS = ("rolecall.dev", "mycompany.com")


def ours(cluster: Cluster) -> list[str]:
    """Everything that is not in a namespace, and that deploying brought."""
    names = names_outside_namespaces(cluster)
    return [name for name in names if name.startswith("rolecall-") or name.endswith(GROUPS)]


def is_accepted(world: World) -> bool:
    """Whether its kind is served already."""
    world.apply(mapping("first"))
    return True


def test_undeploy_finalizes_what_is_there_and_leaves_nothing(
    operator: Operator, world: World
) -> None:
    Etcd(world, "last").apply(version=etcd_versions()[-1], replicas=1)
    finalizers = eventually(
        lambda: world.get("etcdcluster", "last")["metadata"].get("finalizers", []),
        timeout_s=PATIENCE_S,
    )
    assert finalizers == ["mycompany.com/last-backup"]
    assert NAMESPACE in ours(operator.cluster)

    operator.make("undeploy")
    assert ours(operator.cluster) == []

    began = time.monotonic()
    operator.deploy(images.FIRST)
    deployed = time.monotonic()
    eventually(lambda: is_accepted(world), ignoring=(ClusterError,))
    world.wait_ready("mapping", "first")
    ready = time.monotonic()
    print(
        f"`make deploy` {deployed - began:.1f} s, first CR ready {ready - began:.1f} s after its start"
    )
    operator.wait_complete(images.FIRST)
