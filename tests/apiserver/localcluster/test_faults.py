"""What a fault test may do to a cluster, and that the data survives it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import Binaries, Cluster, Wanted, temporary_cluster
from tests.fixtures.cluster import unique_name
from tests.fixtures.eventually import eventually

PATH = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def broken(binaries: Binaries) -> Iterator[Cluster]:
    """One for this module: each test leaves it whole."""
    with temporary_cluster(Wanted(name=unique_name(), relays=True), binaries) as cluster:
        yield cluster


def put(cluster: Cluster, name: str) -> None:
    cluster.api.create(PATH, {"metadata": {"name": name}})


def names(cluster: Cluster) -> set[str]:
    return {item["metadata"]["name"] for item in cluster.api.get(PATH)["items"]}


def seconds_of_a_get(cluster: Cluster) -> float:
    began = time.monotonic()
    cluster.kubectl("get", "--raw", "/version")
    return time.monotonic() - began


def test_api_server_comes_back_on_its_port_with_its_data(broken: Cluster) -> None:
    put(broken, "kept")
    broken.apiserver.stop()
    assert broken.apiserver.running is None
    with pytest.raises(ClusterError, match="did not answer"):
        names(broken)
    broken.apiserver.start()
    assert "kept" in names(broken)


def test_killed_store_comes_back_with_its_data(broken: Cluster) -> None:
    put(broken, "in-etcd")
    broken.etcd.kill()
    eventually(lambda: not broken.api.is_ready())
    broken.etcd.start()
    assert "in-etcd" in eventually(lambda: names(broken), ignoring=(ClusterError,))


def test_frozen_api_server_answers_nobody_until_it_thaws(broken: Cluster) -> None:
    with broken.apiserver.frozen():
        running = broken.apiserver.running
        assert running is not None
        assert running.is_frozen
        assert not broken.api.is_ready(timeout_s=0.2)
    assert eventually(broken.api.is_ready)


def test_slow_api_server_answers_late(broken: Cluster) -> None:
    quick = seconds_of_a_get(broken)
    with broken.apiserver.slow(0.2):
        # The handshake and the request, there and back.
        assert seconds_of_a_get(broken) > quick + 0.4


def test_slow_store_makes_writes_late(broken: Cluster) -> None:
    with broken.etcd.slow(0.3):
        began = time.monotonic()
        put(broken, "late")
        assert time.monotonic() - began > 0.5


def test_clients_reconnect_after_their_connections_were_cut(broken: Cluster) -> None:
    broken.apiserver.relay.cut()
    assert broken.kubectl("get", "--raw", "/readyz") == "ok"


def test_shared_cluster_has_no_relay_to_misuse(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="no relay"):
        _ = cluster.apiserver.relay
