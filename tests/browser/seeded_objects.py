"""The objects of a seeded world as its cluster has them: CRs, what their runs made, down to pods.

The client answers as the API server does for the few kinds of a world, whose plural is the kind with an
`s`; rights are those of `FakeCluster`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from rolecall.clock import time_text
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Page, Resource
from rolecall.workqueue import Key
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster, has_labels

GROUPS = {
    "EndpointSlice": "discovery.k8s.io",
    "Deployment": "apps",
    "StatefulSet": "apps",
    "ReplicaSet": "apps",
    "Job": "batch",
}
CORE = ("Pod", "ConfigMap", "Secret", "Service")
MANAGER = "OpenAPI-Generator"  # as `kubernetes.core` calls itself
CONTROLLERS = "kube-controller-manager"
_VERBS = frozenset({"get", "list", "watch", "create", "update", "patch", "delete"})


def gvk_of(kind: str) -> Gvk:
    """Of an object that a run made."""
    return Gvk(GROUPS.get(kind, ""), "v1", kind)


def resource_of(gvk: Gvk) -> Resource:
    plural = f"{gvk.kind.lower()}s"
    return Resource(gvk, plural, namespaced=True, verbs=_VERBS, names=frozenset({plural}))


class WorldClient(FakeClient):
    """Also lists whole objects, and knows which kinds there are."""

    def __init__(self, cluster: FakeCluster, kinds: Mapping[str, Gvk], token: str = "") -> None:
        super().__init__(cluster, token)
        named = {**{kind: gvk_of(kind) for kind in (*GROUPS, *CORE)}, **kinds}
        self._resources = {gvk: resource_of(gvk) for gvk in named.values()}

    @property
    def discovery(self) -> WorldClient:
        return self

    async def by_plural(self, group: str, version: str, plural: str) -> Resource | None:
        wanted = (group, version, plural)
        found = self._resources.values()
        return next(
            (one for one in found if (one.gvk.group, one.gvk.version, one.plural) == wanted), None
        )

    async def by_gvk(self, gvk: Gvk) -> Resource:
        return self._resources[gvk]

    async def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]:
        self._check("list", gvk, namespace)
        items = [
            each
            for (kind, place, _), each in self._cluster.objects.items()
            if kind == gvk.kind and namespace in ("", place)
            if not label_selector or has_labels(each["metadata"].get("labels", {}), label_selector)
        ]
        yield Page(items, "1", "")


class WorldObjects:
    """Puts objects into a cluster."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def put_cr(self, key: Key, made: datetime, **parts: Any) -> Json:
        """`parts`: spec, conditions, labels, annotations, generation."""
        metadata = {
            "name": key.name,
            "namespace": key.namespace,
            "uid": uid_of(key.gvk.kind, key.namespace, key.name),
            "generation": parts.get("generation", 1),
            "creationTimestamp": time_text(made),
            "labels": parts.get("labels", {}),
            "annotations": parts.get("annotations", {}),
        }
        status = {"conditions": parts.get("conditions", [])}
        cr = _object(key.gvk, metadata, spec=parts.get("spec", {}), status=status)
        self._cluster.objects[key.gvk.kind, key.namespace, key.name] = cr
        return cr

    def put_owned(self, owner: Json, kind: str, name: str, made: datetime, **fields: Any) -> Json:
        """`fields`: of the object, beside its metadata."""
        of = owner["metadata"]
        reference = {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": of["name"],
            "uid": of["uid"],
            "controller": True,
        }
        metadata = {
            "name": name,
            "namespace": of["namespace"],
            "uid": uid_of(kind, of["namespace"], name),
            "resourceVersion": str(crc32(name.encode()) % 90000 + 10000),
            "creationTimestamp": time_text(made),
            "labels": {"app": of["name"]},
            "ownerReferences": [reference],
        }
        found = _object(gvk_of(kind), metadata, **fields)
        metadata["managedFields"] = [_managed(found, made)]
        if status := found.get("status"):
            fields = {"f:status": _fields_of(status)}
            entry = _entry(CONTROLLERS, found, made, fields, subresource="status")
            metadata["managedFields"].append(entry)
        self._cluster.objects[kind, of["namespace"], name] = found
        return found

    def put_workload(
        self, owner: Json, kind: str, name: str, made: datetime, *, ready: int = 2, of: int = 2
    ) -> Json:
        """A Deployment, a StatefulSet or a Job with what its controller made."""
        image = f"registry.example.com/{owner['kind'].lower()}:1.{of}"
        container = {"name": "main", "image": image, "resources": {"limits": {"memory": "256Mi"}}}
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
        spec: Json = {"template": template}
        if kind == "Job":
            status: Json = {"succeeded": ready} if ready == of else {"active": of - ready}
        else:
            spec = {"replicas": of, **spec}
            status = {"replicas": of, "readyReplicas": ready}
        found = self.put_owned(owner, kind, name, made, spec=spec, status=status)
        above = found
        if kind == "Deployment":
            labels: Json = {"f:metadata": {"f:labels": {"f:team": {}}}}
            found["metadata"]["labels"]["team"] = "night shift"
            edited = _entry("kubectl-edit", found, made + timedelta(hours=3), labels)
            found["metadata"]["managedFields"].append(edited)
            status = {"replicas": of, "readyReplicas": ready}
            above = self.put_owned(
                found, "ReplicaSet", f"{name}-6c9f7d", made, spec=spec, status=status
            )
        for number in range(of):
            is_up = number < ready
            phase = ("Succeeded" if kind == "Job" else "Running") if is_up else "Pending"
            pod: Json = {"phase": phase}
            pod["conditions"] = [{"type": "Ready", "status": "True" if is_up else "False"}]
            if not is_up:
                waiting = {"reason": "ImagePullBackOff", "message": f"cannot pull {image}"}
                state = {"name": "main", "ready": False, "state": {"waiting": waiting}}
                pod["containerStatuses"] = [{**state, "restartCount": 4}]
            of_pod = f"{above['metadata']['name']}-{number}"
            self.put_owned(above, "Pod", of_pod, made, spec=template["spec"], status=pod)
        return found


def uid_of(kind: str, namespace: str, name: str) -> str:
    return f"uid-{kind}-{namespace}-{name}".lower()


def _object(gvk: Gvk, metadata: Json, **fields: Any) -> Json:
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **fields}


def _managed(found: Json, at: datetime) -> Json:
    """All that a run wrote, as one entry of `managedFields`."""
    written = {key: value for key, value in found.items() if key in ("spec", "data")}
    fields = _fields_of({"metadata": {"labels": found["metadata"]["labels"]}, **written})
    owners: Json = {
        f'k:{{"uid":"{each["uid"]}"}}': {} for each in found["metadata"]["ownerReferences"]
    }
    fields["f:metadata"]["f:ownerReferences"] = {".": {}, **owners}
    return _entry(MANAGER, found, at, fields)


def _entry(manager: str, found: Json, at: datetime, fields: Json, **more: str) -> Json:
    entry = {"manager": manager, "operation": "Update", "apiVersion": found["apiVersion"], **more}
    return {**entry, "time": time_text(at), "fieldsType": "FieldsV1", "fieldsV1": fields}


def _fields_of(value: Any) -> Json:
    if isinstance(value, dict):
        return {f"f:{key}": _fields_of(item) for key, item in value.items()}
    if isinstance(value, list) and all(isinstance(each, dict) and "name" in each for each in value):
        return {f'k:{{"name":"{each["name"]}"}}': {".": {}, **_fields_of(each)} for each in value}
    return {}
