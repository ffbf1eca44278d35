"""Prefixes of a Mapping that the API server rejects, and the limit that it names."""

from __future__ import annotations

import json

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.deploy.test_deployment import ROOT
from tests.apiserver.kubectl import Kubectl

DOTS = "prefix must not contain the segments `.` and `..`"
SLASHES = "with a gateway, prefix must not contain `//`, `#` or an escaped slash"


def mapping(prefix: str, *, at: str = "v1", gateway: str = "") -> Json:
    spec: Json = {"match": {"prefix": prefix}, "target": {"host": "shop"}}
    if at == "v1alpha1":
        spec = {"prefix": prefix, "target": "shop"}
    if gateway:
        spec["gateway"] = {"name": gateway}
    api_version = f"routing.rolecall.dev/{at}"
    metadata = {"name": "x"}
    return {"apiVersion": api_version, "kind": "Mapping", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    kubectl = Kubectl(binaries, cluster)
    kubectl.install("-f", str(ROOT / "crds/mappings.yaml"))
    return kubectl


@pytest.mark.parametrize(
    ("made", "said"),
    [
        *((mapping(f"/{path}"), DOTS) for path in ("a/../b", "a/./b", "..", ".", "a/%2E%2e/b")),
        (mapping("/a/../b", at="v1alpha1"), DOTS),
        *((mapping(f"/{path}", gateway="g"), SLASHES) for path in ("a//b", "a%2fb", "a#b")),
        (mapping("/a//b", at="v1alpha1", gateway="g"), SLASHES),
    ],
)
def test_prefix_that_proxies_rewrite_is_rejected(
    kubectl: Kubectl, namespace: str, made: Json, said: str
) -> None:
    refused = kubectl.run("-n", namespace, "create", "-f", "-", stdin=json.dumps(made))

    assert refused.returncode != 0
    assert said in refused.stderr


@pytest.mark.parametrize("prefix", ["/a.b/..c/", "/...", "/a//b", "/"])
def test_prefix_that_only_looks_like_it_is_accepted(
    kubectl: Kubectl, namespace: str, prefix: str
) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(mapping(prefix)))
