"""What a fault test may do to a cluster, and that the data survives it."""

from __future__ import annotations

import time

import pytest

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import Cluster
from tests.fixtures.eventually import eventually

PATH = "/api/v1/namespaces/default/configmaps"


def put(cluster: Cluster, name: str) -> None:
    cluster.api.create(PATH, {"metadata": {"name": name}})


def names(cluster: Cluster) -> set[str]:
    return {item["metadata"]["name"] for item in cluster.api.get(PATH)["items"]}


def seconds_of_a_get(cluster: Cluster) -> float:
    began = time.monotonic()
    cluster.kubectl("get", "--raw", "/version")
    return time.monotonic() - began


@pytest.mark.nightly
def test_api_server_comes_back_on_its_port_with_its_data(disturbed_cluster: Cluster) -> None:
    put(disturbed_cluster, "kept")
    disturbed_cluster.apiserver.stop()
    assert disturbed_cluster.apiserver.running is None
    with pytest.raises(ClusterError, match="did not answer"):
        names(disturbed_cluster)
    disturbed_cluster.apiserver.start()
    assert "kept" in names(disturbed_cluster)


@pytest.mark.nightly
def test_killed_store_comes_back_with_its_data(disturbed_cluster: Cluster) -> None:
    put(disturbed_cluster, "in-etcd")
    disturbed_cluster.etcd.kill()
    eventually(lambda: not disturbed_cluster.api.is_ready())
    disturbed_cluster.etcd.start()
    assert "in-etcd" in eventually(lambda: names(disturbed_cluster), ignoring=(ClusterError,))


def test_frozen_api_server_does_not_answer_until_it_thaws(disturbed_cluster: Cluster) -> None:
    with disturbed_cluster.apiserver.frozen():
        running = disturbed_cluster.apiserver.running
        assert running is not None
        eventually(lambda: running.is_frozen)  # each of its threads stops in its turn
        assert not disturbed_cluster.api.is_ready(timeout_s=0.2)
    assert eventually(disturbed_cluster.api.is_ready)


def test_slow_api_server_answers_late(disturbed_cluster: Cluster) -> None:
    with disturbed_cluster.apiserver.slow(0.2):
        # The handshake and the request, there and back.
        assert seconds_of_a_get(disturbed_cluster) > 0.8


def test_slow_store_makes_writes_late(disturbed_cluster: Cluster) -> None:
    with disturbed_cluster.etcd.slow(0.3):
        began = time.monotonic()
        put(disturbed_cluster, "late")
        assert time.monotonic() - began > 0.5


def test_clients_reconnect_after_their_connections_were_cut(disturbed_cluster: Cluster) -> None:
    disturbed_cluster.apiserver.relay.cut()
    assert disturbed_cluster.kubectl("get", "--raw", "/readyz") == "ok"


def test_shared_cluster_has_no_relay_to_misuse(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="no relay"):
        _ = cluster.apiserver.relay
