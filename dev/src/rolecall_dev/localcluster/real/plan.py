"""The addresses of a real cluster, all computed from its number, so that every part agrees.

A machine can have several clusters, each in its own network namespace and with one veth pair to the
host. The host routes to pods and services, so their addresses must differ between clusters: a cluster
takes the first number whose link does not exist and whose addresses have no route.
"""

from __future__ import annotations

from dataclasses import dataclass

from rolecall_dev.localcluster.layout import Ports

NUMBERS = range(16)
# That network namespace has no other programs, so the cluster uses the well-known ports.
PORTS = Ports(6443, 2379, 2380, 6443, 2379)


@dataclass(frozen=True, slots=True)
class Plan:
    """Who has which address in cluster `number`."""

    number: int

    @property
    def link(self) -> str:
        """The host's end of the veth pair; it exists as long as the cluster's network does."""
        return f"rolecall{self.number}"

    @property
    def host(self) -> str:
        """The machine, as pods see it."""
        return f"172.31.{200 + self.number}.1"

    @property
    def apiserver(self) -> str:
        """The control plane, as the machine and pods see it."""
        return f"172.31.{200 + self.number}.2"

    @property
    def node_network(self) -> str:
        """The nodes' own addresses."""
        return f"172.31.{220 + self.number}.0/24"

    @property
    def pod_network(self) -> str:
        """Pods of all nodes: one bridge serves them all."""
        return f"10.{200 + self.number}.0.0/16"

    @property
    def service_network(self) -> str:
        """Cluster addresses of services."""
        return f"10.{220 + self.number}.0.0/16"

    @property
    def routed(self) -> tuple[str, ...]:
        """What the machine reaches through the cluster."""
        return (self.node_network, self.pod_network, self.service_network)

    @property
    def first_service(self) -> str:
        """The address of `kubernetes.default`, which the API server gives itself."""
        return f"10.{220 + self.number}.0.1"

    def name_server(self, node: int) -> str:
        """The cluster address of the name server that the node's pods ask."""
        return f"10.{220 + self.number}.0.{10 + node}"

    @property
    def cgroup(self) -> str:
        """The cgroup above all pods."""
        return f"rolecall{self.number}"

    def node_address(self, node: int) -> str:
        """Of the node with this number, counted from 1."""
        return f"172.31.{220 + self.number}.{node}"


def node_name(node: int) -> str:
    """As in the simulated flavour."""
    return f"node-{node}"
