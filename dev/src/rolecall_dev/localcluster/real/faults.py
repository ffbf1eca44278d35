"""Ways to disturb a real node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rolecall_dev.localcluster.cluster import Cluster
from rolecall_dev.localcluster.real.cgroups import Cgroups


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
