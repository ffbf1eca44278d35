"""The real API server keeps the contract that unit tests rely on of the fake one."""

from __future__ import annotations

from tests.unit.reconcile.cluster_contract import ClusterContract


class TestReal(ClusterContract):
    """With the fixture `shop` of this folder."""
