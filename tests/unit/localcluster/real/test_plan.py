"""Addresses, flags and files of a cluster with real nodes."""

from __future__ import annotations

import ipaddress
import itertools

from rolecall_dev.localcluster.real.components import component_names
from rolecall_dev.localcluster.real.plan import NUMBERS, Plan


def test_no_two_clusters_share_an_address() -> None:
    plans = [Plan(number) for number in NUMBERS]
    networks = [
        ipaddress.ip_network(each, strict=False)
        for plan in plans
        for each in (*plan.routed, f"{plan.host}/30")
    ]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(networks, 2))
    assert all(network.is_private for network in networks)


def test_addresses_lie_in_the_networks_that_are_routed() -> None:
    plan = Plan(3)
    services = ipaddress.ip_network(plan.service_network)
    assert ipaddress.ip_address(plan.first_service) == services[1]
    servers = [ipaddress.ip_address(plan.name_server(node)) for node in (1, 2)]
    assert len(set(servers)) == 2
    assert all(server in services for server in servers)
    assert ipaddress.ip_address(plan.node_address(2)) in ipaddress.ip_network(plan.node_network)


def test_name_of_the_link_fits_the_kernel() -> None:
    assert all(len(Plan(number).link) < 16 for number in NUMBERS)


def test_every_node_has_its_runtime_and_its_kubelet() -> None:
    names = component_names(2)
    assert {"containerd-node-1", "containerd-node-2", "kubelet-node-1", "kubelet-node-2"} <= {
        *names
    }
    assert "kwok" not in names
