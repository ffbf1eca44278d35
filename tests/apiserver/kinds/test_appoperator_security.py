"""What an Appoperator may not do to the node that its pods run on, at any version of the kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.deploy.test_deployment import ROOT
from tests.apiserver.kubectl import Kubectl

VERSIONS = ("v1", "v1beta1", "v1alpha1")
CONTAINER_FIELD, POD_FIELD = "securityContext", "podSecurityContext"
# A copy of the CRD, so that no operator is needed to convert: the schemas are the same.
GROUP = "caged.example.com"
HOST = {"hostPath": {"path": "/"}}


def app(version: str, **spec: Any) -> Json:
    image = {"repository": "app"} if version == "v1" else "app"
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Appoperator",
        "metadata": {"name": "x"},
        "spec": {"image": image} | spec,
    }


def volume(**source: Any) -> Json:
    return {"volumes": [{"name": "data", **source}]}


def probe(**what: Any) -> Json:
    return {"livenessProbe": what}


@pytest.fixture(scope="module")
def kubectl(
    binaries: Binaries, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    crd = yaml.safe_load((ROOT / "crds/appoperators.yaml").read_text())
    crd["metadata"]["name"] = f"appoperators.{GROUP}"
    crd["spec"] |= {"group": GROUP, "conversion": {"strategy": "None"}}
    del crd["spec"]["names"]["shortNames"]
    kubectl = Kubectl(binaries, cluster)
    path = tmp_path_factory.mktemp("crd") / "crd.yaml"
    path.write_text(yaml.safe_dump(crd))
    kubectl.install("-f", str(path))
    return kubectl


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (volume(**HOST), "other types of volumes, such as hostPath, are not allowed"),
        (volume(nfs={"server": "a", "path": "/"}), "other types of volumes"),
        (volume(**HOST, emptyDir=None), "other types of volumes"),
        (volume(emptyDir={}, secret={"secretName": "a"}), "a volume is exactly one of"),
        ({CONTAINER_FIELD: {"privileged": True}}, "privileged is not allowed"),
        ({CONTAINER_FIELD: {"allowPrivilegeEscalation": True}}, "allowPrivilegeEscalation"),
        ({CONTAINER_FIELD: {"procMount": "Unmasked"}}, "procMount"),
        ({CONTAINER_FIELD: {"capabilities": {"add": ["SYS_ADMIN"]}}}, "Unsupported value"),
        ({CONTAINER_FIELD: {"capabilities": {"add": ["ALL"]}}}, "Unsupported value"),
        ({CONTAINER_FIELD: {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}}, "Unsupported value"),
        ({CONTAINER_FIELD: {"seccompProfile": {"type": "Unconfined"}}}, "Unsupported value"),
        ({CONTAINER_FIELD: {"appArmorProfile": {"type": "Unconfined"}}}, "Unsupported value"),
        ({CONTAINER_FIELD: {"seLinuxOptions": {"type": "spc_t"}}}, "Unsupported value"),
        ({POD_FIELD: {"seccompProfile": {"type": "Unconfined"}}}, "Unsupported value"),
        ({POD_FIELD: {"appArmorProfile": {"type": "Unconfined"}}}, "Unsupported value"),
        ({POD_FIELD: {"seLinuxOptions": {"type": "spc_t"}}}, "Unsupported value"),
        ({POD_FIELD: {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, "Unsupported value"),
        (probe(httpGet={"host": "169.254.169.254", "port": 80}), "a probe asks the pod itself"),
        (probe(tcpSocket={"host": "10.0.0.1", "port": 22}), "a probe asks the pod itself"),
    ],
    ids=str,
)
def test_way_out_of_the_container_is_refused_and_said_plainly(
    kubectl: Kubectl, namespace: str, version: str, spec: Json, said: str
) -> None:
    # As an attacker would: without the check of field names that kubectl asks for.
    create = ("create", "--validate=false", "-f", "-")

    refused = kubectl.run("-n", namespace, *create, stdin=json.dumps(app(version, **spec)))

    assert refused.returncode != 0, "it was accepted"
    assert said in refused.stderr


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"hostNetwork": True, "hostPID": True, "hostIPC": True, "nodeName": "a"}, ""),
        (volume(**HOST, emptyDir={}), "volumes"),
        ({CONTAINER_FIELD: {"windowsOptions": {"hostProcess": True}}}, CONTAINER_FIELD),
        ({POD_FIELD: {"windowsOptions": {"hostProcess": True}}}, POD_FIELD),
        ({POD_FIELD: {"seLinuxOptions": {"user": "system_u", "role": "system_r"}}}, POD_FIELD),
    ],
    ids=str,
)
def test_field_that_the_kind_does_not_have_is_dropped(
    kubectl: Kubectl, namespace: str, version: str, spec: Json, where: str
) -> None:
    create = ("create", "--validate=false", "-o", "json", "-f", "-")

    stored = kubectl("-n", namespace, *create, stdin=json.dumps(app(version, **spec)))

    kept = json.dumps(json.loads(stored)["spec"].get(where, json.loads(stored)["spec"]))
    for word in ("host", "nodeName", "windowsOptions", "system_"):
        assert word not in kept


@pytest.mark.fast
@pytest.mark.parametrize("version", VERSIONS)
def test_what_applications_need_is_taken(kubectl: Kubectl, namespace: str, version: str) -> None:
    sources: list[Json] = [
        {"configMap": {"name": "a", "items": [{"key": "a", "path": "b"}]}},
        {"secret": {"secretName": "a", "defaultMode": 256}},
        {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"persistentVolumeClaim": {"claimName": "a"}},
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
        {"csi": {"driver": "secrets-store.csi.k8s.io"}},
    ]
    container = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "CHOWN"]},
        "readOnlyRootFilesystem": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "Localhost", "localhostProfile": "a.json"},
    }
    pod = {
        "runAsUser": 0,
        "runAsNonRoot": False,
        "fsGroup": 2000,
        "supplementalGroups": [3000],
        "sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}],
    }
    spec: Json = {
        "port": 8080,
        "volumes": [{"name": f"v-{number}", **one} for number, one in enumerate(sources)],
        CONTAINER_FIELD: container,
        POD_FIELD: pod,
        "readinessProbe": {"httpGet": {"path": "/", "port": "app"}, "periodSeconds": 5},
        "livenessProbe": {"exec": {"command": ["true"]}},
        "startupProbe": {"grpc": {"port": 8080}},
    }

    created = kubectl(
        *("-n", namespace, "create", "--validate=strict", "-o", "json", "-f", "-"),
        stdin=json.dumps(app(version, **spec)),
    )

    now = json.loads(created)["spec"]
    assert {key: now[key] for key in spec} == spec
