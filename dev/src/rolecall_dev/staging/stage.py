"""A cluster for tests."""

from __future__ import annotations

from rolecall_dev.localcluster import Cluster


class Stage:
    """A local cluster for tests of operators: with `staged()` a new one, or one that is there."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
