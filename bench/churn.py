"""So many edits a second, for so long: does an engine keep up, and what is left when they end?

    python bench/churn.py [--crs 100 1000] [--rate 20] [--minutes 60] [--publish] [--json FILE]

For each number of CRs, a warm engine on the same cluster. When all have had their first run, random CRs
are edited at the rate, whatever the engine makes of it: edits of a CR that waits already join its turn.
When they end, the time is taken until each status tells of the newest generation. Fails where that does
not come.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, World, running
from bench.figures import Figure, table
from bench.many_crs import free_port
from bench.processes import open_files, pss_mb
from bench.publish import publish_churn, write_json
from bench.soak import had_its_run, runs_by_result
from rolecall.kube import Client, Credentials

MIXED = KINDS["Mixed"]
AT_ONCE = 20
_LOOK_S = 0.5
_SEED = 7


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rate", type=float, default=20.0, help="edits a second")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--kubeconfig", type=Path, help="of a cluster that is there already")
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(options.kubeconfig, "churn") as kubeconfig:
        figures = asyncio.run(measured(kubeconfig, options))
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        publish_churn(figures)
    return 0


async def measured(kubeconfig: Path, options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    figures = []
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await World(api).prepare([f"churn-{count}" for count in options.crs])
        for count in options.crs:
            figures += await churned(api, kubeconfig, count, options)
    return figures


async def churned(
    api: Client, kubeconfig: Path, count: int, options: argparse.Namespace
) -> list[Figure]:
    """One engine with so many CRs."""
    namespace, port = f"churn-{count}", free_port()
    names = [f"cr-{number}" for number in range(count)]
    metrics = f"--metrics-bind-address=127.0.0.1:{port}"
    with running("warm", namespace, kubeconfig, metrics) as engine:
        began = time.monotonic()
        await create(api, namespace, names)
        await all_told(api, namespace)
        first_s, before = time.monotonic() - began, await runs(port)
        first_mb, first_files = pss_mb(engine.pid), open_files(engine.pid)
        edits = await edited(api, namespace, names, options)
        ended = time.monotonic()
        await all_told(api, namespace)
        settled_s = time.monotonic() - ended
        made = await runs(port) - before
        name = f"{count} CRs, {options.rate:g} edits a second for {options.minutes:g} min"
        return [
            Figure(f"{count} CRs: created and run once", "s", (first_s,)),
            Figure(f"{name}: edits", "", (float(edits),)),
            Figure(f"{name}: runs", "", (made,)),
            Figure(f"{name}: after the last edit, until all are told", "s", (settled_s,)),
            course(f"{name}: memory", "MB PSS", first_mb, pss_mb(engine.pid)),
            course(f"{name}: descriptors", "", first_files, open_files(engine.pid)),
        ]


def course(name: str, unit: str, first: float, last: float) -> Figure:
    """Before and after."""
    return Figure(name, unit, (float(first), float(last)), is_course=True)


async def create(api: Client, namespace: str, names: list[str]) -> None:
    """All of them."""
    left = iter(names)

    async def some() -> None:
        for name in left:
            metadata = {"name": name, "namespace": namespace}
            body = {"apiVersion": MIXED.api_version, "kind": MIXED.kind, "metadata": metadata}
            await api.create(MIXED, {**body, "spec": {"note": "new"}})

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


async def edited(api: Client, namespace: str, names: list[str], options: argparse.Namespace) -> int:
    """Edit at the rate, as if nobody waited for anything; how many edits were made."""
    chosen = random.Random(_SEED)
    began, number = time.monotonic(), 0
    async with asyncio.TaskGroup() as tasks:
        while (now_s := time.monotonic() - began) < options.minutes * 60:
            if number < now_s * options.rate:
                number += 1
                patch = {"spec": {"note": f"{number}"}}
                name = chosen.choice(names)
                tasks.create_task(api.merge_patch(MIXED, namespace, name, patch))
            else:
                await asyncio.sleep(1 / options.rate / 4)
    return number


async def all_told(api: Client, namespace: str) -> None:
    """Until each CR's status tells of its newest generation."""
    while not all(map(had_its_run, await api.list_all(MIXED, namespace))):  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(_LOOK_S)


async def runs(port: int) -> float:
    """That ended."""
    return sum((await asyncio.to_thread(runs_by_result, port)).values())


if __name__ == "__main__":
    sys.exit(main())
