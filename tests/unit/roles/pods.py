"""Pods of a PodSet, as its filters meet them."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter

Json = dict[str, Any]

NOW = "2026-01-01T00:10:00Z"
PRESENT: Json = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "app", "image": "app:2"}]},
}
CR: Json = {
    "apiVersion": "apps.rolecall.dev/v1alpha1",
    "kind": "PodSet",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u-1"},
}


def wish(replicas: int, **strategy: Any) -> Json:
    """What the role takes from the spec."""
    return {"replicas": replicas, "template": PRESENT, "strategy": strategy}


def template_mark() -> str:
    """The mark that a pod of the present template carries."""
    made = role_filter("podset", "podset_plan")([], CR, wish(1), NOW)["create"][0]
    return str(made["metadata"]["labels"]["apps.rolecall.dev/template"])


def pod(
    name: str,
    *,
    ready: bool = True,
    phase: str = "Running",
    created: str = "01",
    going: bool = False,
    uid: str = "u-1",
    template: str | None = None,
) -> Json:
    """A pod of the first minute of the year; of the present template unless told otherwise."""
    since = f"2026-01-01T00:00:{created}Z"
    mark = template_mark() if template is None else template
    labels = {"apps.rolecall.dev/podset": uid, "apps.rolecall.dev/template": mark}
    metadata: Json = {"name": name, "namespace": "shop", "creationTimestamp": since}
    metadata |= {"labels": {key: text for key, text in labels.items() if text}}
    metadata["ownerReferences"] = [{"uid": uid, "controller": True}]
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": since}
    return {"metadata": metadata, "status": {"phase": phase, "conditions": [condition]}}
