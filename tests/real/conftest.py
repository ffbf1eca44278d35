"""Fixtures of this tier: the engine with our roles, and a namespace where restricted pods run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from rolecall.localcluster import Cluster
from tests.e2e.engine import ROOT, EngineProcess
from tests.real.world import World


@pytest.fixture(scope="session")
def engine(
    real_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EngineProcess]:
    """One engine for all tests, watching every namespace, with the roles of this repository."""
    process = EngineProcess(
        ROOT,
        tmp_path_factory.mktemp("engine") / "scratch",
        kubeconfig=real_cluster.kubeconfig,
        environment={"WATCH_NAMESPACE": ""},
    )
    yield process.wait_ready()
    process.clean_up()


@pytest.fixture(scope="module")
def world(
    real_cluster: Cluster, engine: EngineProcess, request: pytest.FixtureRequest
) -> Iterator[World]:
    """A namespace for the tests of a module."""
    words = request.module.__name__.rpartition("test_")[2].replace("_", "-")
    found = World(real_cluster, engine, f"{words}-{secrets.token_hex(2)}")
    # A root pod here would be a bug of a role that no other test sees.
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    metadata = {"name": found.namespace, "labels": labels}
    real_cluster.api.create(
        "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    )
    yield found
    real_cluster.api.delete(f"/api/v1/namespaces/{found.namespace}")
