"""The role of tests/e2e/skipping.py as a script, and what its runs are asked about."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from pathlib import Path

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import EngineInProcess, Script, ScriptedRun, eventually_async
from tests.e2e.kinds import CONFIG_MAP
from tests.e2e.skipping import SECRET, shown

INFO = "kubernetes.core.k8s_info"
PERIOD = "200ms"  # short: a test waits for some of them
Look = Callable[[], Awaitable[object]]


def shows(project: Path) -> Script:
    """It writes all that it read: a Secret, a list, a template, and its CR."""

    async def play(run: ScriptedRun) -> None:
        async with run.task("look for a Secret", module=INFO) as task:
            source = await task.get("v1", "Secret", f"{run.name}-source")
        async with run.task("look for a list", module=INFO) as task:
            found = await task.list("v1", "ConfigMap", labels=f"for={run.name}")
        text = (project / "roles" / "shows" / "templates" / "text.j2").read_text()
        async with run.task("write") as task:
            data = {
                "text": text,
                "size": str(run.spec.get("size", 0)),
                "label": run.cr["metadata"].get("labels", {}).get("tier", "none"),
                "source": source["data"]["key"] if source else "missing",
                "listed": ",".join(sorted(each["metadata"]["name"] for each in found)),
            }
            metadata = {"name": f"{run.name}-out", "namespace": run.namespace}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
            await task.present(body)

    return play


async def skipped(engine: EngineInProcess) -> float:
    return await engine.metric("rolecall_runs_skipped_total")


async def wait_for_skip(engine: EngineInProcess) -> None:
    before = await skipped(engine)
    await eventually_async(lambda: skipped(engine), lambda count: count > before)


async def at_rest(engine: EngineInProcess) -> float:
    """Wait until periods pass without a run; returns how many runs there were."""
    before = await skipped(engine)
    await eventually_async(lambda: skipped(engine), lambda count: count > before + 1)
    return await engine.runs()


async def follows(api: Client, namespace: str, key: str, value: str) -> None:
    """Wait until the role wrote this."""

    async def seen() -> str:
        return str((await shown(api, namespace)).get(key))

    await eventually_async(seen, lambda text: text == value)


async def follows_secret(api: Client, namespace: str, value: str) -> None:
    """Change the Secret, and wait until the role saw it."""
    encoded = base64.b64encode(value.encode()).decode()
    await api.merge_patch(SECRET, namespace, "x-source", {"data": {"key": encoded}})
    await follows(api, namespace, "source", encoded)


async def kept(api: Client, namespace: str) -> Json:
    """The one ConfigMap that the engine keeps for skips."""

    async def found() -> list[Json]:
        every = await api.list_all(CONFIG_MAP, namespace)
        return [it for it in every if "-unchanged-" in it["metadata"]["name"]]

    return (await eventually_async(found, lambda every: len(every) == 1))[0]


def lines(engine: EngineInProcess, text: str) -> list[str]:
    return [line for line in engine.log.splitlines() if text in line]


def leader(namespace: str) -> list[str]:
    """Flags of an engine that leads, without which nothing is kept for the next one."""
    lease = f"--leader-election-namespace={namespace}"
    return ["--leader-elect", "--leader-election-id=skips", lease]
