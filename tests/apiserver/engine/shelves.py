"""Scripted plays that send the requests of the roles `shelf` and `maker` of tests/e2e."""

from __future__ import annotations

import asyncio
from typing import Any

from rolecall_dev.testing import Script, ScriptedRun

_INFO = "kubernetes.core.k8s_info"
_FAIL = "ansible.builtin.fail"
INSTALLED: dict[str, object] = {}  # what `chart` installed, by UID of its CR


def config_map(run: ScriptedRun, name: str, **more: Any) -> dict[str, Any]:
    """In the run's namespace."""
    metadata = {"name": name, "namespace": run.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}


async def shelf(run: ScriptedRun) -> None:
    """What a run makes, and how it ends, is all in the spec; see tests/e2e/wanted/roles/shelf."""
    spec = run.spec
    async with run.task("list what is there", module=_INFO, when=spec.get("lists", False)) as task:
        if not task.skipped:
            await task.list("v1", "ConfigMap", labels=f"shelf={run.name}")
    async with run.task("make books", when=spec.get("ready", True)) as task:
        for book in [] if task.skipped else spec.get("books") or []:
            made = config_map(run, f"{run.name}-{book}", data={"word": spec.get("word", "nothing")})
            made["metadata"]["labels"] = {"shelf": run.name}
            await task.present(made)
    async with run.task("make what others make too") as task:
        for name in spec.get("common") or []:
            await task.present(config_map(run, name))
    async with run.task("read by name", module=_INFO) as task:
        for book in spec.get("reads") or []:
            await task.get("v1", "ConfigMap", f"{run.name}-{book}")
    if spec.get("stops"):
        run.end_play()
    async with run.task("make a claim") as task:  # a loop over as many as are wanted
        if spec.get("claim"):
            await task.present(
                {
                    **config_map(run, f"{run.name}-claim"),
                    "kind": "PersistentVolumeClaim",
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Mi"}},
                    },
                }
            )
    await end(run)


async def chart(run: ScriptedRun) -> None:
    """A release of a tool that keeps its own state: it touches nothing when nothing changed."""
    uid = str(run.cr["metadata"]["uid"])
    async with run.task("install", module="kubernetes.core.helm") as task:
        if INSTALLED.get(uid) != run.spec.get("books"):
            for book in run.spec.get("books") or []:
                await task.present(config_map(run, f"{run.name}-{book}"))
            INSTALLED[uid] = run.spec.get("books")


def creates(kubectl: str, words: str) -> Script:
    """`kubectl create ... || true` for each book; what there is already is left alone."""

    async def play(run: ScriptedRun) -> None:
        async with run.task("create unless it is there", module="ansible.builtin.shell"):
            for book in run.spec.get("books") or []:
                process = await asyncio.create_subprocess_exec(
                    *(kubectl, "create", *words.format(f"{run.name}-{book}").split()),
                    *("-n", run.namespace),
                    stderr=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.DEVNULL,
                    env={"KUBECONFIG": str(run.kubeconfig), "KUBECACHEDIR": str(run.artifacts)},
                )
                _, said = await process.communicate()
                assert process.returncode == 0 or b"already exists" in said, said

    return play


async def end(run: ScriptedRun) -> None:
    """The rest of `shelf`: how the run ends."""
    spec = run.spec
    for how in ("ignores", "rescues"):
        if spec.get(how):
            async with run.task(
                "fail", module=_FAIL, ignore_errors=how == "ignores", rescued=how == "rescues"
            ) as task:
                task.fail()
    if spec.get("swallows"):
        async with run.task("ask", module="ansible.builtin.uri") as task:
            task.result |= {"failed_when_result": False, "status": -1, "msg": "Request failed"}
    if spec.get("fails"):
        async with run.task("fail at the end", module=_FAIL) as task:
            task.fail()
    if spec.get("again"):
        await run.requeue_after("1h")


async def maker(run: ScriptedRun) -> None:
    """See tests/e2e/behaviours/roles/maker."""
    async with run.task("make an object") as task:
        await task.present(
            config_map(run, f"{run.name}-made", data={"word": run.spec.get("word", "nothing")})
        )


SHELVES: dict[str, Script] = {"Shelf": shelf, "Rack": shelf, "Heap": shelf}
MAKERS: dict[str, Script] = {"Maker": maker}
