"""Fixtures of this tier: our operator from its own image, and a namespace where restricted pods run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.image_archive import what_is_missing

from rolecall_dev.localcluster import Cluster, load_images
from tests.fixtures.lacking import skip_or_fail
from tests.fixtures.real_cluster import alone_on_the_machine
from tests.real import images
from tests.real.operator import Operator
from tests.real.world import World


@pytest.fixture(scope="session")
def first_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Our operator's image, as an archive."""
    if lack := what_is_missing():
        skip_or_fail(lack)
    with alone_on_the_machine():
        archive = images.build_first(images.a_builder(), tmp_path_factory.mktemp("first"))
    yield archive
    archive.unlink()


@pytest.fixture(scope="session")
def operator(real_cluster: Cluster, first_image: Path) -> Operator:
    """One for all tests on this cluster, two replicas, watching every namespace."""
    load_images(real_cluster, [first_image])
    found = Operator(real_cluster)
    found.deploy(images.FIRST)
    found.wait_complete(images.FIRST)
    found.wait_for_leader()
    return found


@pytest.fixture(scope="session")
def second_image(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the version that follows, on every node."""
    archive = images.build_second(images.a_builder(), tmp_path_factory.mktemp("second"))
    load_images(operator.cluster, [archive])
    archive.unlink()
    return images.SECOND


@pytest.fixture(scope="module")
def world(real_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[World]:
    """A namespace for the tests of a module; whether an operator works in it is the module's choice."""
    words = request.module.__name__.rpartition("test_")[2].replace("_", "-")
    found = World(real_cluster, f"{words}-{secrets.token_hex(2)}")
    # A root pod here would be a bug of a role that no other test sees.
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    metadata = {"name": found.namespace, "labels": labels}
    real_cluster.api.create(
        "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    )
    yield found
    real_cluster.api.delete(f"/api/v1/namespaces/{found.namespace}")
