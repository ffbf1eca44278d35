"""Paths: built in one place, and no name breaks out of its segment."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Resource

CONFIG_MAPS = Resource(Gvk("", "v1", "ConfigMap"), "configmaps", namespaced=True)
ROLES = Resource(Gvk("rbac.authorization.k8s.io", "v1", "ClusterRole"), "clusterroles", False)


@pytest.mark.parametrize(
    ("resource", "arguments", "path"),
    [
        (CONFIG_MAPS, (), "/api/v1/configmaps"),
        (CONFIG_MAPS, ("shop",), "/api/v1/namespaces/shop/configmaps"),
        (CONFIG_MAPS, ("shop", "a"), "/api/v1/namespaces/shop/configmaps/a"),
        (CONFIG_MAPS, ("a/b", "../x"), "/api/v1/namespaces/a%2Fb/configmaps/..%2Fx"),
        (
            ROLES,
            ("ignored", "system:node", "status"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode/status",
        ),
    ],
)
def test_path_of(resource: Resource, arguments: tuple[str, ...], path: str) -> None:
    assert resource.path(*arguments) == path
