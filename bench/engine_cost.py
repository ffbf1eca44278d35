"""What does the engine itself cost: time from an event to the start of its run, memory for each CR?

    python bench/engine_cost.py [--kubeconfig FILE] [--crs 1000] [--json FILE]

Starts a cluster of its own unless it is given one. The time is counted from the API server's answer
to the create until the engine's log says that the run started: the event, the queue, one read and one
write of status lie between. Memory is that of the engine's process alone, without its warm host and
its plays, after every CR had its run. What one CR more costs is the slope over all that were added.

Promised: 10 ms on an idle engine, 60 MB with 100 CRs, 6 KB for each further one; it fails above.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, Engine, World, running
from bench.figures import Figure, table
from bench.processes import own_pss_mb
from rolecall.kube import Client, Credentials

NAMESPACE = "engine-cost"
KIND = KINDS["One"]
LATENCIES = 30
FIRST = 100
BATCH = 100
QUIET_S = 1.0
LOG_FLAGS = ("--log-format=json", "--zap-time-encoding=rfc3339nano")
START = "event to run start"
MEMORY = f"memory with {FIRST} CRs"
FURTHER = "memory for each further CR"
PROMISED = {START: 10.0, MEMORY: 60.0, FURTHER: 6.0}


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--crs", type=int, default=1000, help=f"how many beyond {FIRST}")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with (
        given_or_own(options.kubeconfig, NAMESPACE) as kubeconfig,
        running("warm", NAMESPACE, kubeconfig, *LOG_FLAGS) as engine,
    ):
        figures = asyncio.run(measured(kubeconfig, engine, options.crs))
    print(table(figures))
    for name, most in PROMISED.items():
        print(f"promise: {name} at most {most:g}")
    if options.json:
        rows = {figure.name: figure.values for figure in figures}
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(figure.median <= PROMISED[figure.name] for figure in figures) else 1


async def measured(kubeconfig: Path, engine: Engine, further: int) -> list[Figure]:
    """All figures."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await World(api).prepare([NAMESPACE])
        await add(api, "first", 1)
        starts = [await start_ms(api, engine, f"alone-{number}") for number in range(LATENCIES)]
        await add(api, "early", FIRST - LATENCIES - 1)
        memory = [own_pss_mb(engine.pid)]
        for batch in range(further // BATCH):
            await add(api, f"batch-{batch}", BATCH)
            memory.append(own_pss_mb(engine.pid))
    return [
        Figure(START, "ms", tuple(starts)),
        Figure(MEMORY, "MB", (memory[0],)),
        Figure(FURTHER, "KB", (slope(memory) * 1024 / BATCH,)),
    ]


async def start_ms(api: Client, engine: Engine, name: str) -> float:
    """From the answer to a create to the start of its run, on an engine that does nothing else."""
    await asyncio.sleep(QUIET_S)
    await create(api, name)
    created_at = time.time()
    while not (  # noqa: ASYNC110 - no event to wait for
        lines := [one for one in said(engine) if is_start(one, name)]
    ):
        await asyncio.sleep(0.05)
    return (datetime.fromisoformat(lines[0]["ts"]).timestamp() - created_at) * 1e3


async def create(api: Client, name: str) -> None:
    """One CR."""
    metadata = {"name": name, "namespace": NAMESPACE}
    body = {"apiVersion": KIND.api_version, "kind": KIND.kind, "metadata": metadata}
    await api.create(KIND, {**body, "spec": {"size": 1}})


async def add(api: Client, name: str, count: int) -> None:
    """So many CRs more, each of which had its run."""
    await asyncio.gather(*(create(api, f"{name}-{number}") for number in range(count)))
    while not await all_succeeded(api):  # noqa: ASYNC110 - no event to wait for
        await asyncio.sleep(QUIET_S)
    await asyncio.sleep(QUIET_S)


async def all_succeeded(api: Client) -> bool:
    """Whether every CR had its run."""
    return all(is_successful(cr) for cr in await api.list_all(KIND, NAMESPACE))


def is_successful(cr: dict[str, Any]) -> bool:
    """Whether this one had its run."""
    conditions = cr.get("status", {}).get("conditions", [])
    return any(it["type"] == "Successful" and it["status"] == "True" for it in conditions)


def said(engine: Engine) -> Iterator[dict[str, Any]]:
    """The engine's log."""
    for line in (engine.temporary.parent / "log").read_text().splitlines():
        if line.startswith("{") and line.endswith("}"):
            yield json.loads(line)


def is_start(line: dict[str, Any], name: str) -> bool:
    """Whether a line says that the run of this CR started."""
    return bool(line["msg"] == "run started" and line["name"] == name)


def slope(values: list[float]) -> float:
    """The straight line through values that follow each other: how much one is above the one before."""
    middle = (len(values) - 1) / 2
    mean = sum(values) / len(values)
    above = sum((at - middle) * (value - mean) for at, value in enumerate(values))
    return above / sum((at - middle) ** 2 for at in range(len(values)))


if __name__ == "__main__":
    sys.exit(main())
