"""What do many CRs, many kinds and many namespaces cost an engine, and what do edits wait meanwhile?

    python bench/many_crs.py [--crs 10000] [--edits 20] [--publish] [--json FILE]

Starts a cluster of its own. An engine with one CR is edited first: the idle wait. Then one is started
beside all CRs. When it is ready it has listed them, which is compared with an engine that has none.
While it works that list off, others of them are edited one after the other. At last, idle engines: of
60 kinds, of a kind in 200 namespaces, and of a kind in one.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from bench.clusters import given_or_own
from bench.engines import (
    CRD,
    KINDS,
    PATIENCE_S,
    PROJECT,
    Engine,
    World,
    crd_of,
    create_some,
    running,
)
from bench.figures import Figure, table
from bench.processes import own_pss_mb, threads
from bench.publish import MANY_CRS, write_json
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials

ONE = KINDS["One"]
ALONE, EMPTY, MANY = "many-alone", "many-empty", "many-crs"
MANY_KINDS, MANY_NAMESPACES = 60, 200
AT_ONCE = 50
SETTLED_S = 2.0


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, default=10000)
    parser.add_argument(
        "--edits", type=int, default=20, help="idle, and while the list is worked off"
    )
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(None, "many") as kubeconfig:
        figures = asyncio.run(measured(kubeconfig, options.crs, options.edits))
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        MANY_CRS.publish(figures)
    return 0


async def measured(kubeconfig: Path, crs: int, edits: int) -> list[Figure]:
    """All figures."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        spread = [f"many-{number}" for number in range(MANY_NAMESPACES)]
        await world.prepare([ALONE, EMPTY, MANY, *spread])
        names = [f"cr-{number}" for number in range(crs)]
        await create_some(api, ONE, MANY, names, AT_ONCE)
        async with ready(kubeconfig, ALONE) as (_, _):
            await world.create(ONE, ALONE, ["cr-0"])
            await asyncio.sleep(SETTLED_S)
            idle = [
                (await world.edit(ONE, ALONE, ["cr-0"], f"{number}"))[0] for number in range(edits)
            ]
        async with ready(kubeconfig, EMPTY) as (engine, none_s):
            none_mb = own_pss_mb(engine.pid)
        async with ready(kubeconfig, MANY) as (engine, all_s):
            all_mb = own_pss_mb(engine.pid)
            # From the end of the list: those of the start have not had their runs by then.
            chosen = names[-edits:]
            busy = [(await world.edit(ONE, MANY, [name], "edited"))[0] for name in chosen]
        figures = [
            Figure(f"{crs} CRs: listed and queued", "s", (max(0.0, all_s - none_s),)),
            Figure(f"{crs} CRs: memory of each", "KB", ((all_mb - none_mb) * 1024 / crs,)),
            Figure("edit to Successful, idle", "s", tuple(idle)),
            Figure("edit to Successful, while the list is worked off", "s", tuple(busy)),
            Figure("the same, 95th of 100 to the idle median", "x", (ratio(busy, idle),)),
        ]
        return figures + await spread_out(api, kubeconfig, spread)


def ratio(busy: list[float], idle: list[float]) -> float:
    """How much longer the slowest edits wait than an ordinary one on an idle engine."""
    return statistics.quantiles(busy, n=20)[-1] / statistics.median(idle)


async def spread_out(api: Client, kubeconfig: Path, namespaces: list[str]) -> list[Figure]:
    """Idle engines of many streams; their kinds have no CRs there."""
    figures = []
    kinds = [Gvk(ONE.group, ONE.version, f"Kind{number}") for number in range(MANY_KINDS)]
    for gvk in kinds:
        await api.create(CRD, crd_of(gvk))
    await asyncio.sleep(SETTLED_S)
    for what, project, where in (
        (f"{MANY_KINDS} kinds", kinds, EMPTY),
        (f"{MANY_NAMESPACES} namespaces", [ONE], ",".join(namespaces)),
        ("one kind, one namespace", [ONE], EMPTY),
    ):
        with project_of(project) as folder:
            async with ready(kubeconfig, where, folder) as (engine, seconds):
                figures += [
                    Figure(f"{what}: until ready", "s", (seconds,)),
                    Figure(f"{what}: engine's own memory", "MB PSS", (own_pss_mb(engine.pid),)),
                    Figure(f"{what}: threads", "", (float(threads(engine.pid)),)),
                ]
    return figures


@asynccontextmanager
async def ready(
    kubeconfig: Path, namespace: str, project: Path = PROJECT
) -> AsyncIterator[tuple[Engine, float]]:
    """An engine whose streams have brought their first lists, and how long that took."""
    port = free_port()
    probe = f"--health-probe-bind-address=127.0.0.1:{port}"
    began = time.monotonic()
    with running("warm", namespace, kubeconfig, probe, project=project) as engine:
        await wait_ready(port)
        seconds = time.monotonic() - began
        yield engine, seconds


def free_port() -> int:
    """A port without a listener just now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def wait_ready(port: int) -> None:
    """Until an engine with its probes there is ready."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(is_ready, port):  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0.02)


def is_ready(port: int) -> bool:
    """Whether every watch has its first list."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def project_of(kinds: list[Gvk]) -> Iterator[Path]:
    """A project of such kinds, all with the same role."""
    role = str(PROJECT / "roles" / "one")
    rows = [
        {"group": gvk.group, "version": gvk.version, "kind": gvk.kind, "role": role}
        for gvk in kinds
    ]
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        (Path(folder) / "watches.yaml").write_text(yaml.safe_dump(rows))
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
