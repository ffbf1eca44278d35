"""A Deployment that a run of the CR `blog` wrote, as the fake cluster and the artifacts have it."""

from __future__ import annotations

from typing import Any

from tests.unit.extensions.console.control.engine import NOON, SITE
from tests.unit.extensions.console.page.serving import Shown

from rolecall.gvk import Gvk
from rolecall.history import kept_cr
from rolecall.json_object import Json
from rolecall.kube import Resource
from rolecall.record import RecordedRequest, RecordedTask, RunRecord
from rolecall.record.file import write_record

APPS = Gvk("apps", "v1", "Deployment")
PYTHON = "OpenAPI-Generator"
PLACE = "roles/website/tasks/main.yml:12"


class OneGroup:
    """A discovery in which the plural of each kind ends in `s`."""

    async def by_plural(self, group: str, version: str, plural: str) -> Resource | None:
        kinds = {"deployments": "Deployment", "secrets": "Secret", "websites": "Website"}
        kind = kinds.get(plural)
        return None if kind is None else self._of(Gvk(group, version, kind))

    async def by_gvk(self, gvk: Gvk) -> Resource:
        return self._of(gvk)

    def _of(self, gvk: Gvk) -> Resource:
        return Resource(gvk, f"{gvk.kind.lower()}s", namespaced=gvk.kind != "Node")


def owned(kind: str, name: str, *, by: str = "uid-blog", **fields: Any) -> Json:
    """An object that a CR owns, without its kind, as some API servers list it."""
    owner = {"apiVersion": SITE.api_version, "kind": SITE.kind, "name": "blog", "uid": by}
    metadata = {"name": name, "namespace": "shop", "uid": "u1", "ownerReferences": [owner]}
    return {"kind": kind, "metadata": metadata, **fields}


def deployment(**spec: Any) -> Json:
    found = owned("Deployment", "web", apiVersion="apps/v1", spec={"replicas": 3, **spec})
    fields: Json = {"f:spec": {"f:replicas": {}, "f:paused": {}}}
    entry = {"manager": PYTHON, "operation": "Update", "fieldsV1": fields}
    edit = {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:by": {}}}}
    times = {"time": "2026-11-22T12:00:05Z"}
    found["metadata"]["managedFields"] = [{**entry, **times}, {**edit, **times}]
    return found


def request(*leaves: str, **more: Any) -> RecordedRequest:
    about = {"group": "apps", "version": "v1", "resource": "deployments", "subresource": ""}
    about |= {"namespace": "shop", "name": "web", "verb": "patch", "patch_type": "merge"}
    facts: dict[str, Any] = {
        **about,
        "number": 0,
        "at_s": 5.0,
        "seconds": 0.1,
        "code": 200,
        "task": 0,
    }
    return RecordedRequest(**facts, manager=PYTHON, leaves=leaves, **more)


def keep_run(page: Shown, *requests: RecordedRequest, run: str = "7") -> None:
    page.world.keep("blog", run=run, outcome="succeeded")
    task = RecordedTask("uuid-1", "run the web server", PLACE, "kubernetes.core.k8s", 4.0)
    folder = kept_cr(page.world.root, SITE, "shop", "blog").artifacts / run
    write_record(
        folder, RunRecord(run, NOON, 0.0, (task,), requests or (request(".spec.replicas"),))
    )
