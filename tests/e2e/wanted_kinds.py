"""The kinds of the folder `wanted`: what their runs no longer want, and what they read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from rolecall_dev.testing import EngineInProcess
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, condition, cr, is_reported, is_successful
from tests.fixtures.eventually import eventually_async

WANTED = Path(__file__).parent / "wanted"
GROUP = "wanted.rolecall.dev"
SHELF, RACK, HEAP, VAULT = (Gvk(GROUP, "v1", name) for name in ("Shelf", "Rack", "Heap", "Vault"))
WANTED_KINDS = (SHELF, RACK, HEAP, VAULT)
CLAIM, SECRET, EVENT = (
    Gvk("", "v1", name) for name in ("PersistentVolumeClaim", "Secret", "Event")
)
RESUMED = {"rolecall.dev/paused": None}


async def names(api: Client, namespace: str, gvk: Gvk = CONFIG_MAP) -> set[str]:
    """Of all objects of a kind that tests made."""
    found = {item["metadata"]["name"] for item in await api.list_all(gvk, namespace)}
    return {name for name in found if not name.startswith(("kube-root", "rolecall-inventory"))}


async def settled(api: Client, gvk: Gvk, namespace: str, name: str = "x") -> Json:
    """The CR, once the run of its generation went well."""
    return await eventually_async(
        lambda: api.get(gvk, namespace, name),
        lambda found: is_reported(found) and is_successful(found),
        timeout_s=PATIENCE_S,
    )


async def made(api: Client, gvk: Gvk, namespace: str, name: str = "x", /, **spec: Any) -> Json:
    """A new CR, once its first run went well."""
    await api.create(gvk, cr(gvk, namespace, name, **spec))
    return await settled(api, gvk, namespace, name)


async def edited(api: Client, gvk: Gvk, namespace: str, name: str = "x", /, **spec: Any) -> Json:
    """The CR with a spec that is edited, once a run of it went well."""
    await api.merge_patch(gvk, namespace, name, {"spec": spec})
    return await settled(api, gvk, namespace, name)


async def failed(api: Client, gvk: Gvk, namespace: str, name: str = "x") -> Json:
    """The CR, once a run failed."""
    return await eventually_async(
        lambda: api.get(gvk, namespace, name),
        lambda found: condition(found, "Failure").get("status") == "True",
        timeout_s=PATIENCE_S,
    )


async def inventories(api: Client, cr: Json) -> list[Json]:
    """What is kept for a CR, wherever the operator keeps it."""
    place = f"{cr['metadata']['namespace']}/{cr['metadata']['name']}"
    found = await api.list_all(CONFIG_MAP, label_selector="rolecall.dev/store=inventory")
    return [it for it in found if it["metadata"]["annotations"].get("rolecall.dev/of") == place]


async def forget_inventory(api: Client, cr: Json) -> None:
    (kept,) = await inventories(api, cr)
    await api.delete(CONFIG_MAP, kept["metadata"]["namespace"], kept["metadata"]["name"])


async def add_owner(api: Client, namespace: str, name: str, owner: Json) -> None:
    """Another owner of a ConfigMap."""
    metadata = owner["metadata"]
    fresh = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    fresh |= {"name": metadata["name"], "uid": metadata["uid"]}
    there = (await api.get(CONFIG_MAP, namespace, name))["metadata"]["ownerReferences"]
    patch = {"metadata": {"ownerReferences": [*there, fresh]}}
    await api.merge_patch(CONFIG_MAP, namespace, name, patch)


async def eventually_data(
    api: Client, namespace: str, name: str, is_right: Callable[[Json], object]
) -> Json:
    """The data of a ConfigMap, once it is right."""

    async def look() -> Json:
        data: Json = (await api.get(CONFIG_MAP, namespace, name)).get("data") or {}
        return data

    return await eventually_async(look, is_right, timeout_s=PATIENCE_S, ignoring=(NotFoundError,))


def pruned(engine: EngineProcess | EngineInProcess) -> list[Json]:
    """What the runs of an engine said of it in `run.json`, oldest first."""
    files = [json.loads(file.read_text()) for file in engine.artifacts.glob("**/run.json")]
    return [run["pruned"] for run in sorted(files, key=lambda run: run["began"]) if "pruned" in run]


async def events(api: Client, namespace: str, reason: str) -> list[Json]:
    found = await api.list_all(EVENT, namespace)
    return [event for event in found if event["reason"] == reason]


async def create_input(
    api: Client, namespace: str, name: str, *, kind: str = "ConfigMap", **labels: str
) -> Json:
    """A ConfigMap or Secret that a role reads and does not own."""
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    body = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    return await api.create(SECRET if kind == "Secret" else CONFIG_MAP, body)
