"""What of a DemoVolume and a PodSet the API server refuses, in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.deploy.test_deployment import ROOT
from tests.apiserver.kubectl import Kubectl


def volume(**spec: Any) -> Json:
    return _object("demo.rolecall.dev/v1", "DemoVolume", {"name": "x", "size": 2} | spec)


def pod_set(**spec: Any) -> Json:
    template = {"spec": {"containers": [{"name": "app", "image": "app:1"}]}}
    return _object("apps.rolecall.dev/v1alpha1", "PodSet", {"template": template} | spec)


def _object(api_version: str, kind: str, spec: Json) -> Json:
    metadata = {"name": "x"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    kubectl = Kubectl(binaries, cluster)
    for kind in ("demovolumes", "podsets"):
        kubectl.install("-f", str(ROOT / f"crds/{kind}.yaml"))
    return kubectl


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (volume(), volume(size=1), "size cannot shrink below what the claim has"),
        (volume(), volume(storageClassName="fast"), "storageClassName cannot change"),
        (volume(accessModes=["ReadWriteOnce"]), volume(), "accessModes cannot change"),
        (volume(cloneFrom="a"), volume(cloneFrom="b"), "cloneFrom cannot change"),
        (volume(restoreFromSnapshot="a"), volume(), "restoreFromSnapshot cannot change"),
        (volume(), volume(cloneFrom="a", restoreFromSnapshot="b"), "a clone or with a snapshot"),
        (volume(), volume(accessModes=["Any"]), "Unsupported value"),
        (volume(), volume(retainPolicy="Keep"), "Unsupported value"),
        (volume(), volume(snapshots=["Not A Name"]), "should match"),
        (pod_set(), pod_set(strategy={"type": "Recreate"}), "Unsupported value"),
        (pod_set(), pod_set(strategy={"maxUnavailable": 0}), "must not both be 0"),
    ],
)
def test_what_cannot_work_is_refused_and_said_plainly(
    kubectl: Kubectl, namespace: str, before: Json, after: Json, said: str
) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(before))

    refused = kubectl.run("-n", namespace, "replace", "-f", "-", stdin=json.dumps(after))

    assert refused.returncode != 0
    assert said in refused.stderr


@pytest.mark.fast
def test_what_may_change_is_taken(kubectl: Kubectl, namespace: str) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(volume(cloneFrom="a")))
    after = volume(cloneFrom="a", size=3, retainPolicy="Retain", snapshots=["one"])

    kubectl("-n", namespace, "replace", "-f", "-", stdin=json.dumps(after))


def has(kubectl: Kubectl, namespace: str, capacity: str) -> None:
    """As the operator reports it."""
    status = json.dumps({"status": {"capacity": capacity}})
    words = ("--subresource=status", "--type=merge", "--patch", status)
    kubectl("-n", namespace, "patch", "demovolume", "x", *words)


@pytest.mark.parametrize(("capacity", "back"), [("2Gi", 2), ("2Ti", 2048), ("2560Mi", 2)])
def test_size_that_could_not_be_reached_goes_back_to_that_of_the_claim(
    kubectl: Kubectl, namespace: str, capacity: str, back: int
) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(volume(size=9000)))
    has(kubectl, namespace, capacity)

    smaller = json.dumps(volume(size=back - 1))
    refused = kubectl.run("-n", namespace, "replace", "-f", "-", stdin=smaller)
    assert "size cannot shrink below what the claim has" in refused.stderr
    kubectl("-n", namespace, "replace", "-f", "-", stdin=json.dumps(volume(size=back)))
