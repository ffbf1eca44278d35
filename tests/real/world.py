"""What tests of this tier look at and change: objects of one namespace, in the words of kubectl."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from rolecall.json_object import Json
from rolecall_dev.localcluster import APP, Cluster
from tests.fixtures.eventually import eventually
from tests.fixtures.objects import Objects

# A turn of a role that execs takes seconds, and the machine may be busy with other things.
PATIENCE_S = 240.0
# Looked at more often than in watches.yaml: that members, pods and Jobs fail is seen by looking.
OFTEN = {"ansible.sdk.operatorframework.io/reconcile-period": "5s"}


@dataclass(frozen=True)
class World:
    """A namespace of the real cluster."""

    cluster: Cluster
    namespace: str

    @cached_property
    def objects(self) -> Objects:
        """How they are looked at."""
        return Objects(self.cluster)

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """In the namespace."""
        return self.cluster.kubectl("-n", self.namespace, *arguments, stdin=stdin)

    def apply(self, *manifests: Json) -> None:
        """Create or change."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(items))

    def get(self, kind: str, name: str) -> Json:
        """The object, empty when there is none."""
        return self.objects.get(self.namespace, kind, name)

    def list(self, kind: str, selector: str = "") -> list[Json]:
        """Objects with these labels."""
        return self.objects.list(self.namespace, kind, selector)

    def patch(self, kind: str, name: str, change: Json) -> None:
        """Merge a change into an object."""
        self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change))

    def execute(self, pod: str, *command: str) -> str:
        """Run something in the pod's first container."""
        return self.kubectl("exec", pod, "--", *command)

    def wait_ready(self, kind: str, name: str, timeout_s: float = PATIENCE_S) -> Json:
        """Wait until the CR says that it is, about its current generation."""
        return eventually(lambda: self.get(kind, name), is_ready, timeout_s=timeout_s)


def is_ready(cr: Json) -> bool:
    """Whether `Ready` is true, and reports about the current generation."""
    return condition(cr, "Ready").get("status") == "True" and is_current(cr)


def is_current(cr: Json) -> bool:
    """Whether the status is about the generation that the user wants."""
    observed = cr.get("status", {}).get("observedGeneration")
    return bool(observed == cr["metadata"]["generation"])


def condition(cr: Json, kind: str) -> Json:
    """One condition of a status, empty when it is not there."""
    found: Json = next(
        (one for one in cr.get("status", {}).get("conditions", []) if one["type"] == kind), {}
    )
    return found


def names_outside_namespaces(cluster: Cluster) -> list[str]:
    """Of every kind that deploying an operator brings."""
    kinds = "crds,clusterroles,clusterrolebindings,namespaces"
    found = json.loads(cluster.kubectl("get", kinds, "-o", "json"))["items"]
    return [each["metadata"]["name"] for each in found]


def mapping(name: str) -> Json:
    """The cheapest of our kinds: a run is one look and one Service."""
    return {
        "apiVersion": "routing.rolecall.dev/v1",
        "kind": "Mapping",
        "metadata": {"name": name},
        "spec": {
            "match": {"prefix": f"/{name}/"},
            "target": {"host": "shop.default", "port": 8080},
        },
    }


def app_pod(name: str, claim: str) -> Json:
    """A restricted pod that mounts a claim at /data and sleeps."""
    container = {
        "name": "app",
        "image": APP,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 10001,
                "fsGroup": 10001,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}],
        },
    }
