"""The role `vault` of tests/e2e/wanted as a script: it writes what it read."""

from __future__ import annotations

import json
import re
import time

from rolecall.json_object import Json
from rolecall_dev.testing import EngineInProcess, ScriptedRun, eventually_async

_QUIET_S = 1.0
INFO = "kubernetes.core.k8s_info"


async def vault(run: ScriptedRun) -> None:
    spec, secret, listed, looked = run.spec, None, [], None
    async with run.task("read a Secret", module=INFO, when="secret" in spec) as task:
        if not task.skipped:
            secret = await task.get("v1", "Secret", spec["secret"])
    async with run.task("read a list", module=INFO, when="selector" in spec) as task:
        if not task.skipped:
            listed = await task.list("v1", "ConfigMap", labels=spec["selector"])
    set_fact = "ansible.builtin.set_fact"
    async with run.task("read by a lookup", module=set_fact, when="lookup_of" in spec) as task:
        if not task.skipped:
            looked = await task.get("v1", "ConfigMap", spec["lookup_of"])
    before = data_of(looked)
    async with run.task("write what others may read", when="writes" in spec) as task:
        if not task.skipped:
            count = int(before.get("count", "n0").removeprefix("n")) + 1
            await task.present(config_map(run, spec["writes"], {"count": f"n{count}"}))
    if spec.get("needs"):
        async with run.task("need it", module="ansible.builtin.assert"):
            assert secret is not None
    async with run.task("write what was read") as task:
        read = {
            "secret": json.dumps(data_of(secret)),
            "listed": " ".join(sorted(each["metadata"]["name"] for each in listed)),
            "looked": json.dumps(before),
        }
        await task.present(config_map(run, f"{run.name}-read", read))


def data_of(found: Json | None) -> Json:
    data: Json = (found or {}).get("data") or {}
    return data


def config_map(run: ScriptedRun, name: str, data: Json) -> Json:
    metadata = {"name": name, "namespace": run.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def causes(engine: EngineInProcess) -> list[str]:
    """Of all runs so far."""
    return re.findall(r'run started .* cause="?([^"\n]*)', engine.log)


async def at_rest(engine: EngineInProcess) -> int:
    """How many runs there were, once none was in flight and none began for a second."""
    seen, since = -1, time.monotonic()

    def look() -> bool:
        nonlocal seen, since
        begun = engine.log.count("run started")
        if begun != seen or begun != len(re.findall("run (?:finished|failed)", engine.log)):
            seen, since = begun, time.monotonic()
        return time.monotonic() - since > _QUIET_S

    await eventually_async(look)
    return seen
