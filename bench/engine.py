"""The whole engine, stock against warm: from creating a CR to `Successful`, as a user waits for it.

    python bench/engine.py [--quick] [--json FILE] [--plot FILE]      (`make bench`, QUICK=1)

Two engines run side by side, one for each way and each for its own namespace, on one cluster; the
measurements alternate between them, so both meet the same machine. Stock stands in for the Go operator,
which adds its own layers to it. The last line is for scripts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.figures import Figure, table, write_json, write_picture  # noqa: E402
from bench.processes import cpu_s, family, open_files, private_mb, pss_mb  # noqa: E402
from rolecall import localcluster  # noqa: E402
from rolecall.errors import ClusterError  # noqa: E402
from rolecall.gvk import Gvk  # noqa: E402
from rolecall.kube import Client, Credentials  # noqa: E402

Json = dict[str, Any]
PROJECT = ROOT / "bench" / "project"
WAYS = ("stock", "warm")
KINDS = {kind: Gvk("bench.rolecall.dev", "v1", kind) for kind in ("One", "Four", "Fifty")}
CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
NAMESPACE = Gvk("", "v1", "Namespace")
PATIENCE_S = 120.0
# An idle engine wakes up now and then, for its Lease, its streams and its timers.
QUIET_S, QUIET_CPU_S = 0.7, 0.03


@dataclass(frozen=True)
class Engine:
    """One `rolecall run`, for one namespace."""

    way: str
    namespace: str
    pid: int


@contextmanager
def running(way: str, namespace: str, kubeconfig: Path, *flags: str) -> Iterator[Engine]:
    """An engine, until the context ends."""
    scratch = Path(tempfile.mkdtemp(prefix="bench"))
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    } | {
        "KUBECONFIG": str(kubeconfig),
        "WATCH_NAMESPACE": namespace,
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
    }
    command = [sys.executable, "-m", "rolecall", "run", f"--runner={way}"]
    doors = ["--proxy-port=0", "--role-metrics-port=0", "--metrics-bind-address=0"]
    doors += ["--health-probe-bind-address=0", f"--artifacts-dir={scratch / 'runs'}"]
    log = (scratch / "log").open("wb")
    process = subprocess.Popen(
        [*command, *doors, *flags],
        cwd=PROJECT,
        env=environment,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
    )
    try:
        yield Engine(way, namespace, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        log.close()
        subprocess.run(["rm", "-rf", str(scratch)], check=False)


class World:
    """The cluster, as one who creates CRs and waits sees it."""

    def __init__(self, api: Client) -> None:
        self._api = api

    async def prepare(self, namespaces: list[str]) -> None:
        """Kinds and namespaces."""
        for kind, gvk in KINDS.items():
            await self._api.create(CRD, _crd(kind, gvk))
        for name in namespaces:
            await self._api.create(NAMESPACE, {"metadata": {"name": name}})
        for gvk in KINDS.values():
            await self._served(gvk)

    async def _served(self, gvk: Gvk) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                await self._api.list_all(gvk)
                return
            except ClusterError:  # whatever it is, the kind is not served yet
                await asyncio.sleep(0.1)
        raise TimeoutError(f"{gvk} was not served")

    async def time_to_success(self, gvk: Gvk, namespace: str, names: list[str]) -> list[float]:
        """Seconds from each creation to `Successful`, all created at once."""
        version = ""
        async for page in self._api.pages(gvk, namespace):
            version = page.resource_version
        waiter = asyncio.create_task(self._successes(gvk, namespace, set(names), version))
        await asyncio.sleep(0)
        began = {}

        async def create(name: str) -> None:
            began[name] = time.monotonic()
            metadata = {"name": name, "namespace": namespace}
            body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
            await self._api.create(gvk, {**body, "spec": {"size": 1}})

        await asyncio.gather(*(create(name) for name in names))
        ended = await asyncio.wait_for(waiter, PATIENCE_S)
        return [ended[name] - began[name] for name in names]

    async def _successes(
        self, gvk: Gvk, namespace: str, waiting: set[str], version: str
    ) -> dict[str, float]:
        ended: dict[str, float] = {}
        async for event in self._api.watch(gvk, namespace, resource_version=version):
            name = event.object.get("metadata", {}).get("name", "")
            if name in waiting and _is_successful(event.object):
                ended.setdefault(name, time.monotonic())
                if len(ended) == len(waiting):
                    break
        return ended


def _is_successful(cr: Json) -> bool:
    conditions = cr.get("status", {}).get("conditions", [])
    return any(one["type"] == "Successful" and one["status"] == "True" for one in conditions)


def _crd(kind: str, gvk: Gvk) -> Json:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower()}
    version = {
        "name": gvk.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": anything, "status": anything},
            }
        },
    }
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": f"{names['plural']}.{gvk.group}"},
        "spec": {
            "group": gvk.group,
            "names": names,
            "scope": "Namespaced",
            "versions": [version],
        },
    }


async def latencies(world: World, engines: list[Engine], kind: str, rounds: int) -> list[Figure]:
    """Alternating: one CR at a time, wall and CPU seconds for each way."""
    wall: dict[str, list[float]] = {engine.way: [] for engine in engines}
    cpu: dict[str, list[float]] = {engine.way: [] for engine in engines}
    for number in range(rounds + 1):
        for engine in engines:
            await quiet([each.pid for each in engines])
            before = cpu_s(engine.pid)
            name = f"{kind.lower()}-{number}"
            took = await world.time_to_success(KINDS[kind], engine.namespace, [name])
            if number:  # the first one warms caches up, on both sides
                wall[engine.way] += took
                cpu[engine.way].append(cpu_s(engine.pid) - before)
    figures = [Figure(f"{kind}: {way}, wall", "s", tuple(wall[way])) for way in wall]
    return figures + [Figure(f"{kind}: {way}, CPU", "s", tuple(cpu[way])) for way in cpu]


async def quiet(pids: list[int]) -> None:
    """Wait until the engines rest: what one CR set off must not be charged to the next."""
    still_since, before = time.monotonic(), [cpu_s(pid) for pid in pids]
    while time.monotonic() - still_since < QUIET_S:
        await asyncio.sleep(0.1)
        now = [cpu_s(pid) for pid in pids]
        if sum(now) - sum(before) > QUIET_CPU_S:
            still_since, before = time.monotonic(), now


async def throughput(world: World, kubeconfig: Path, at_a_time: int, count: int) -> Figure:
    """Four-task reconciles a second, all created at once."""
    flag = f"--max-concurrent-reconciles={at_a_time}"
    with running("warm", "bench-many", kubeconfig, flag, f"--max-runs={at_a_time}"):
        await world.time_to_success(KINDS["Four"], "bench-many", [f"first-{at_a_time}"])
        names = [f"many-{at_a_time}-{number}" for number in range(count)]
        took = await world.time_to_success(KINDS["Four"], "bench-many", names)
    return Figure(f"Four: warm, {at_a_time} at a time", "runs/s", (count / max(took),))


async def soak(world: World, engine: Engine, count: int) -> list[Figure]:
    """Many runs; nothing may grow."""
    before = (pss_mb(engine.pid), open_files(engine.pid), len(family(engine.pid)))
    for start in range(0, count, 50):
        names = [f"soak-{start + number}" for number in range(50)]
        await world.time_to_success(KINDS["One"], engine.namespace, names)
    after = (pss_mb(engine.pid), open_files(engine.pid), len(family(engine.pid)))
    words = (("memory", "MB"), ("open files", ""), ("processes", ""))
    return [
        Figure(f"{count} runs: {word}, {moment}", unit, (float(value),))
        for index, (word, unit) in enumerate(words)
        for moment, value in (("before", before[index]), ("after", after[index]))
    ]


async def bench(kubeconfig: Path, *, is_quick: bool) -> list[Figure]:
    """All of it, in the order of how much it matters."""
    rounds = 3 if is_quick else 15
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        await world.prepare([*(f"bench-{way}" for way in WAYS), "bench-many"])
        figures: list[Figure] = []
        with ExitStack() as stack:
            engines = [
                stack.enter_context(running(way, f"bench-{way}", kubeconfig)) for way in WAYS
            ]
            for kind in ("One", "Four") if is_quick else KINDS:
                figures += await latencies(world, engines, kind, rounds)
            warm = engines[1]
            figures.append(Figure("engine and host, idle", "MB PSS", (pss_mb(warm.pid),)))
            figures.append(Figure("engine alone, private", "MB", (private_mb(warm.pid),)))
            if not is_quick:
                figures += await soak(world, warm, 1000)
        for at_a_time in (2,) if is_quick else (1, 2, 4):
            figures.append(await throughput(world, kubeconfig, at_a_time, 20 if is_quick else 60))
    return figures


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="The whole engine, stock against warm.")
    parser.add_argument("--quick", action="store_true", help="within a minute, with fewer runs")
    parser.add_argument("--json", type=Path, default=ROOT / "bench/results/engine.json")
    parser.add_argument("--plot", type=Path, default=ROOT / "bench/results/engine.svg")
    arguments = parser.parse_args()
    wanted = localcluster.Wanted(name="bench", kept=False)
    cluster = localcluster.bring_up(wanted, localcluster.find_binaries())
    try:
        figures = asyncio.run(bench(cluster.kubeconfig, is_quick=arguments.quick))
    finally:
        localcluster.take_down(cluster.layout)
        cluster.let_go()
    print(table(figures))
    write_json(figures, arguments.json)
    walls = [figure for figure in figures if figure.name.endswith("wall")]
    write_picture(walls, arguments.plot, "from creating a CR to Successful")
    print(_summary({figure.name: figure.median for figure in figures}))
    return 0


def _summary(medians: dict[str, float]) -> str:
    stock, warm = medians["Four: stock, wall"], medians["Four: warm, wall"]
    rate = max(value for name, value in medians.items() if "at a time" in name)
    return (
        f"bench: app {stock:.2f} s stock, {warm:.3f} s warm, {stock / warm:.1f}x; {rate:.1f} runs/s"
    )


if __name__ == "__main__":
    sys.exit(main())
