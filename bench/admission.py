"""How long a client waits that writes an object that a play validates, idle and beside reconciles."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bench.engines import KINDS, ROOT, World, running
from bench.figures import Figure
from bench.measures import quiet
from bench.processes import cpu_s
from rolecall.kube import Client

PROJECT = ROOT / "bench" / "asked"
NAMESPACE = "bench-asked"
_REQUESTS = 60
_BUSY = [f"busy-{number}" for number in range(4)]
_NAME = "validated by two tasks"
_PATIENCE_S = 60.0


async def admission(world: World, api: Client, kubeconfig: Path) -> list[Figure]:
    """Dry runs of creates, one after the other, by a user that is not the operator."""
    flags = ("--webhook-period=1s", f"--leader-election-namespace={NAMESPACE}")
    with running("warm", NAMESPACE, kubeconfig, *flags, project=PROJECT) as engine:
        await _asked(api)
        await quiet([engine.pid])
        before = cpu_s(engine.pid)
        idle = await _series(api)
        cpu = Figure(f"{_NAME}, idle: CPU", "s", ((cpu_s(engine.pid) - before) / _REQUESTS,))
        async with _reconciles(world):
            busy = await _series(api)
    return [*_figures("idle", idle), cpu, *_figures("2 reconciles at a time", busy)]


async def _asked(api: Client) -> None:
    """Wait until the API server asks the engine."""
    deadline = time.monotonic() + _PATIENCE_S
    while await _create(api, "even", 2) != 403:
        if time.monotonic() > deadline:
            raise TimeoutError("the API server did not ask the engine")
        await asyncio.sleep(0.1)


async def _series(api: Client) -> list[float]:
    took = []
    for number in range(_REQUESTS):
        began = time.monotonic()
        code = await _create(api, f"asked-{number}", 1)
        took.append(time.monotonic() - began)
        if code != 201:
            raise RuntimeError(f"a valid object was answered with {code}")
    return took


async def _create(api: Client, name: str, size: int) -> int:
    gvk = KINDS["One"]
    path = f"/apis/{gvk.api_version}/namespaces/{NAMESPACE}/ones?dryRun=All"
    metadata = {"name": name, "namespace": NAMESPACE}
    body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
    text = json.dumps({**body, "spec": {"size": size}}).encode()
    headers = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}
    headers["Content-Type"] = "application/json"
    async with api.request_raw("POST", path, headers=headers, body=text) as response:
        await response.read()
        return response.status


@asynccontextmanager
async def _reconciles(world: World) -> AsyncIterator[None]:
    """Keep the engine at work with four CRs that are edited as soon as they are `Successful`."""
    await world.create(KINDS["Four"], NAMESPACE, _BUSY)

    async def edit() -> None:
        number = 0
        while True:
            number += 1
            await world.edit(KINDS["Four"], NAMESPACE, _BUSY, f"round {number}")

    editing = asyncio.create_task(edit())
    try:
        yield
    finally:
        editing.cancel()
        with suppress(asyncio.CancelledError):
            await editing


def _figures(what: str, took: list[float]) -> list[Figure]:
    p95 = statistics.quantiles(took, n=20)[-1]
    name = f"{_NAME}, {what}"
    return [Figure(name, "s", tuple(took)), Figure(f"{name}: 95th of 100", "s", (p95,))]
