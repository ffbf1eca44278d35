"""The kinds of this tier, and their objects."""

from __future__ import annotations

from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from rolecall.reconcile import PAUSED_ANNOTATION
from tests.fixtures.eventually import eventually_async

GROUP = "e2e.rolecall.dev"
CONFIG_MAP = Gvk("", "v1", "ConfigMap")


def kind(name: str) -> Gvk:
    """One of the kinds in behaviours/watches.yaml."""
    return Gvk(GROUP, "v1", name)


async def is_gone(api: Client, gvk: Gvk, namespace: str, name: str) -> bool:
    """Whether the object is not there any more."""
    try:
        await api.get(gvk, namespace, name)
    except NotFoundError:
        return True
    return False


def cr(gvk: Gvk, namespace: str, name: str = "x", /, **spec: Any) -> Json:
    """An object of a kind."""
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def condition(cr: Json, name: str) -> Json:
    """One of its conditions; empty where there is none."""
    conditions = cr.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == name), {})


async def pause(api: Client, gvk: Gvk, namespace: str, name: str) -> None:
    """Pause a CR and wait until the engine knows: an event before that still starts a run."""
    patch = {"metadata": {"annotations": {PAUSED_ANNOTATION: "true"}}}
    await api.merge_patch(gvk, namespace, name, patch)
    await eventually_async(
        lambda: api.get(gvk, namespace, name),
        lambda found: condition(found, "Paused").get("status") == "True",
    )


def is_successful(cr: Json) -> bool:
    """What `kubectl wait --for=condition=Successful` waits for; true during the next run too."""
    return condition(cr, "Successful").get("status") == "True"


def is_reported(cr: Json) -> bool:
    """Whether the status is that of a run of this generation that ended.

    A run names its generation when it begins, and leaves `Successful` as it was until it ends.
    """
    is_newest = cr.get("status", {}).get("observedGeneration") == cr["metadata"]["generation"]
    return is_newest and condition(cr, "Running").get("reason") != "Running"
