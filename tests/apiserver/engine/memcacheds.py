"""The role of tests/e2e/project as a script, and its CRs."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import ScriptedRun
from tests.apiserver.engine.reading import config_map
from tests.e2e.kinds import cr
from tests.e2e.skipping import MEMCACHED
from tests.e2e.wanted_kinds import edited, settled


async def memcached(run: ScriptedRun) -> None:
    if run.is_finalizer:
        return
    labels = {"app": run.name}
    image = "docker.io/memcached:1.4.36-alpine"
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "memcached", "image": image}]},
    }
    spec = {"replicas": run.spec["size"], "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": f"{run.name}-memcached", "namespace": run.namespace}
    async with run.task("start memcached") as task:
        await task.present(
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
        )
    async with run.task("write settings") as task:
        size = {"size": str(run.spec["size"])}
        await task.present(config_map(run, f"{run.name}-settings", size))


PLAYS = {"Memcached": memcached}


async def created(api: Client, namespace: str, size: int = 1) -> Json:
    """A new CR, once it was reconciled."""
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=size))
    return await settled(api, MEMCACHED, namespace)


async def resized(api: Client, namespace: str, size: int) -> Json:
    """The CR with another size, once it was reconciled."""
    return await edited(api, MEMCACHED, namespace, size=size)
