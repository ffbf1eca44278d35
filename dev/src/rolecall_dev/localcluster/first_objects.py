"""What an empty cluster gets so that work can begin: nodes and a default StorageClass.

`allowVolumeExpansion` is on so that a larger request is accepted by the API server; the host-path
provisioner itself does not resize anything. A stage of kwok plays the driver's part.
"""

from __future__ import annotations

from typing import Any

from rolecall_dev.localcluster.api import Api

DEFAULT_CLASS = "standard"


def create_first_objects(api: Api, nodes: int) -> None:
    """Create what is missing and remove nodes too many; running it again changes nothing."""
    api.create("/apis/storage.k8s.io/v1/storageclasses", _storage_class())
    wanted = {f"node-{number}" for number in range(1, nodes + 1)}
    present = {node["metadata"]["name"] for node in api.get("/api/v1/nodes")["items"]}
    for name in sorted(wanted - present):
        api.create("/api/v1/nodes", _node(name))
    for name in sorted(present - wanted):
        api.delete(f"/api/v1/nodes/{name}")


def can_run_pods(api: Api) -> bool:
    """Whether pods could be made and would run: the proof that every component does its work."""
    accounts = api.get("/api/v1/namespaces/default/serviceaccounts")["items"]
    nodes = api.get("/api/v1/nodes")["items"]
    return bool(accounts) and all(_is_ready(node) for node in nodes)


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _storage_class() -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": DEFAULT_CLASS,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "kubernetes.io/host-path",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": True,
    }


def _node(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "type": "kwok",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }
