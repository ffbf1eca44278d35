"""Handlers beside a role."""

from __future__ import annotations

import os
from typing import Any

import kopf
from kubernetes import client, config

from rolecall.extensions.handlers import on_run_ended, reconcile


@kopf.timer("sites", interval=0.3)
async def tick(
    patch: kopf.Patch, status: kopf.Status, logger: Any, spec: kopf.Spec, **_: Any
) -> None:
    """What a role could do only as often as it runs."""
    if spec.get("fails"):
        raise KeyError("url")
    logger.info("tick")
    patch.status["ticks"] = status.get("ticks", 0) + 1
    patch.status["by"] = os.getpid()


@kopf.on.create("sites")
def make(name: str, namespace: str | None, **_: Any) -> None:
    """With a client, in a thread, and without a word of owners."""
    config.load_kube_config()
    body = {"metadata": {"name": f"{name}-made"}}
    client.CoreV1Api().create_namespaced_config_map(namespace, body)


@kopf.on.field("sites", field="metadata.labels.ask")  # a label alone runs no role
async def ask(new: Any, body: kopf.Body, **_: Any) -> None:
    """Ask for a run."""
    if new:
        reconcile(body, f"asked with {new}")


@kopf.on.field("sites", field="spec.judge")
def judge(new: Any, name: str, namespace: str | None, patch: kopf.Patch, **_: Any) -> None:
    """Write what is the operator's, past kopf."""
    if not new:
        return
    config.load_kube_config()
    body = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Mine"}]}}
    sites = ("e2e.rolecall.dev", "v1", namespace, "sites", name)
    try:
        client.CustomObjectsApi().patch_namespaced_custom_object_status(*sites, body)
    except client.ApiException as refused:
        patch.status["judged"] = f"{refused.status}"


@on_run_ended("Site")
async def ended(logger: Any, succeeded: bool, **_: Any) -> None:
    """What the role came to."""
    logger.info("saw the end of a run that %s", "succeeded" if succeeded else "failed")
