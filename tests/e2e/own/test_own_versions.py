"""Appoperators and Mappings at each of their versions, as `kubectl` has them from a real API server."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S
from tests.e2e.own.cases import DEPLOYMENT
from tests.e2e.own.world import APPOPERATOR, MAPPING, make, wait, wait_reason
from tests.fixtures.eventually import eventually

pytestmark = pytest.mark.usefixtures("engine")

DIGEST = f"sha256:{'0a' * 32}"
SECRET = {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
TEXT = f"registry.example.com:5000/app:1.0@{DIGEST}"
BETA = replace(APPOPERATOR, version="v1beta1")
ALPHA = replace(APPOPERATOR, version="v1alpha1")
OLD_MAPPING = replace(MAPPING, version="v1alpha1")
SPECS: dict[Gvk, Json] = {
    ALPHA: {"image": TEXT, "size": 2, "env": {"A": "1"}, "minReadySeconds": 0},
    BETA: {
        "image": TEXT,
        "replicas": 2,
        "env": [{"name": "A", "value": "1"}],
        "minReadySeconds": 0,
    },
    APPOPERATOR: {
        "image": {
            "repository": "registry.example.com:5000/app",
            "tag": "1.0",
            "digest": DIGEST,
        },
        "replicas": 2,
        "env": [{"name": "A", "value": "1"}],
        "minReadySeconds": 0,
    },
}

DEFAULTS = {"revisionHistoryLimit": 5, "rolloutDeadlineSeconds": 120}


@pytest.fixture(autouse=True)
def converting(cluster: Cluster) -> None:
    """The API server reaches the engine."""
    for kind in ("appoperators.v1beta1.tools", "mappings.v1alpha1.routing"):
        look = partial(cluster.refusal, "get", f"{kind}.rolecall.dev", "-A")
        eventually(look, lambda refusal: not refusal, timeout_s=PATIENCE_S)


def named(gvk: Gvk, name: str) -> str:
    return f"{gvk.kind.lower()}s.{gvk.version}.{gvk.group}/{name}"


def look(cluster: Cluster, namespace: str, gvk: Gvk, name: str = "x") -> Any:
    """What `kubectl get -o yaml` shows."""
    words = ("-n", namespace, "get", named(gvk, name), "-o", "yaml")
    return yaml.safe_load(cluster.kubectl(*words))


@pytest.mark.nightly
async def test_appoperator_is_the_same_at_every_version_whichever_was_written(
    api: Client, cluster: Cluster, namespace: str
) -> None:
    for gvk, spec in SPECS.items():
        cr = make(gvk, namespace, gvk.version, spec)
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(cr))
    templates = []
    for written in SPECS:
        name = written.version
        await wait_reason(api, APPOPERATOR, namespace, name, "Available")
        found = {gvk: look(cluster, namespace, gvk, name) for gvk in SPECS}
        assert {gvk: each["spec"] for gvk, each in found.items()} == {
            gvk: spec | DEFAULTS for gvk, spec in SPECS.items()
        }
        assert [each["status"]["currentImage"] for each in found.values()] == [TEXT] * 3
        template = (await api.get(DEPLOYMENT, namespace, name))["spec"]["template"]
        assert template["spec"]["containers"][0]["image"] == TEXT
        templates.append(template["spec"])
        cluster.kubectl("-n", namespace, "scale", "--replicas=4", named(written, name))
    assert templates == templates[:1] * 3

    for name in (gvk.version for gvk in SPECS):

        async def is_scaled(name: str = name) -> bool:
            found: Json = (await api.get(DEPLOYMENT, namespace, name))["spec"]
            assert found["template"]["spec"] == templates[0]
            return bool(found["replicas"] == 4)

        await wait(is_scaled)


def test_fields_of_each_manager_survive_applies_at_other_versions(
    cluster: Cluster, namespace: str
) -> None:
    def apply(gvk: Gvk, manager: str, spec: Json) -> str:
        words = ("apply", "--server-side", f"--field-manager={manager}", "-f", "-")
        return cluster.refusal(*words, stdin=json.dumps(make(gvk, namespace, "x", spec)))

    assert not apply(BETA, "app", {"image": "app:1.0", "env": [SECRET], "port": 80})
    assert not apply(APPOPERATOR, "autoscaler", {"image": {"repository": "app"}, "replicas": 4})
    assert "conflict" in apply(ALPHA, "other", {"image": "app:2.0", "size": 2})
    assert not apply(APPOPERATOR, "app", {"image": {"repository": "app", "tag": "2.0"}})
    found = look(cluster, namespace, APPOPERATOR)["spec"]
    assert found["image"] == {"repository": "app", "tag": "2.0"}
    assert found["replicas"] == 4
    assert "port" not in found
    assert "env" not in found

    said = cluster.refusal("--warnings-as-errors", "-n", namespace, "get", named(ALPHA, "x"))
    assert "v1alpha1 Appoperator is deprecated; use tools.rolecall.dev/v1" in said


async def test_older_mapping_announces_what_it_always_did(
    api: Client, cluster: Cluster, namespace: str
) -> None:
    spec = {
        "prefix": f"/{namespace}/",
        "target": "shop:8080",
        "weights": [{"target": "next", "weight": 5}],
    }
    old = make(OLD_MAPPING, namespace, "x", spec)
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(old))
    await wait_reason(api, MAPPING, namespace, "x", "Announced")
    assert look(cluster, namespace, OLD_MAPPING)["spec"] == spec
    assert look(cluster, namespace, MAPPING)["spec"] == {
        "match": {"prefix": f"/{namespace}/"},
        "target": {"host": "shop", "port": 8080},
        "weights": [{"target": {"host": "next"}, "weight": 5}],
    }
    service = cluster.kubectl_json("-n", namespace, "get", "service/x")
    reported = service["metadata"]["annotations"]
    assert reported["routing.rolecall.dev/target"] == "shop:8080"
    assert json.loads(reported["routing.rolecall.dev/weights"]) == spec["weights"]
