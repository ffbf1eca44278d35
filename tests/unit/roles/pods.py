"""Pods of a PodSet, as its filters meet them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

NOW = "2026-01-01T00:10:00Z"
PRESENT = "present"  # the hash of the present template
CR: Json = {
    "apiVersion": "apps.rolecall.dev/v1alpha1",
    "kind": "PodSet",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u-1"},
}


def pod(
    name: str,
    *,
    ready: bool = True,
    phase: str = "Running",
    created: str = "00:01",
    going: bool = False,
    uid: str = "u-1",
    template: str = PRESENT,
) -> Json:
    """A pod of the first hour of the year; of the present template unless the test says otherwise."""
    since = f"2026-01-01T00:{created}Z"
    labels = {"apps.rolecall.dev/podset": uid, "apps.rolecall.dev/template": template}
    metadata: Json = {"name": name, "namespace": "shop", "creationTimestamp": since}
    metadata |= {"labels": {key: text for key, text in labels.items() if text}}
    metadata["ownerReferences"] = [{"uid": uid, "controller": True}]
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": since}
    return {"metadata": metadata, "status": {"phase": phase, "conditions": [condition]}}
