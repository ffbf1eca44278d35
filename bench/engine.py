"""The whole engine, stock against warm: from creating a CR to `Successful`, as a user waits for it.

    python bench/engine.py [--quick | --soak RUNS | --admission] [--publish]      (`make bench`)

Two engines run side by side, one for each way and each for its own namespace, on one cluster; the
measurements alternate between them, so both meet the same machine. Stock stands in for the Go operator,
which adds its own layers to it. The last line is for scripts.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import measures, publish  # noqa: E402
from bench.admission import NAMESPACE, admission  # noqa: E402
from bench.engines import World, running  # noqa: E402
from bench.figures import Figure, table  # noqa: E402
from rolecall.kube import Client, Credentials  # noqa: E402
from rolecall_dev import localcluster  # noqa: E402

WAYS = ("stock", "warm")
ROUNDS = {"stock": 15, "warm": 15}
# Half a minute each the stock way; the difference is plain after a few.
ROUNDS_OF_MORE = {"stock": 3, "warm": 15}
QUICK_ROUNDS = {"stock": 3, "warm": 3}
SOAK_RUNS = 1000


async def everything(world: World, kubeconfig: Path) -> list[Figure]:
    """All of it, in the order of how much it matters."""
    figures: list[Figure] = []
    with ExitStack() as stack:
        engines = [stack.enter_context(running(way, f"bench-{way}", kubeconfig)) for way in WAYS]
        one = await measures.latencies(world, engines, "One", ROUNDS)
        figures += one
        for kind in ("Four", "Fifty"):
            figures += await measures.latencies(world, engines, kind, ROUNDS)
        figures += await measures.marginals(world, engines, ROUNDS_OF_MORE, one)
        figures += await measures.memory(world, engines)
    for at_a_time in (1, 2, 4):
        figures += await measures.throughput(world, kubeconfig, at_a_time, 60)
    return figures + await soak(world, kubeconfig, SOAK_RUNS)


async def quick(world: World, kubeconfig: Path) -> list[Figure]:
    """What a minute has room for."""
    figures: list[Figure] = []
    with ExitStack() as stack:
        engines = [stack.enter_context(running(way, f"bench-{way}", kubeconfig)) for way in WAYS]
        for kind in ("One", "Four"):
            figures += await measures.latencies(world, engines, kind, QUICK_ROUNDS)
    return figures + await measures.throughput(world, kubeconfig, 2, 20)


async def soak(world: World, kubeconfig: Path, runs: int) -> list[Figure]:
    """Many runs of one engine that does nothing else."""
    with running("warm", "bench-soak", kubeconfig) as engine:
        return await measures.soak(world, engine, runs)


async def bench(kubeconfig: Path, arguments: argparse.Namespace) -> list[Figure]:
    """The figures that were asked for."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        others = ("bench-many", "bench-soak", NAMESPACE)
        await world.prepare([*(f"bench-{way}" for way in WAYS), *others])
        if arguments.admission:
            return await admission(world, api, kubeconfig)
        if arguments.soak:
            return await soak(world, kubeconfig, arguments.soak)
        return await (quick if arguments.quick else everything)(world, kubeconfig)


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="The whole engine, stock against warm.")
    parser.add_argument("--quick", action="store_true", help="within a minute, with fewer runs")
    parser.add_argument("--soak", type=int, metavar="RUNS", help="only many runs: what grows?")
    parser.add_argument("--admission", action="store_true", help="only what plays validate")
    parser.add_argument("--publish", action="store_true", help="into docs/reference/bench.md, too")
    parser.add_argument("--json", type=Path, default=ROOT / "bench/results/engine.json")
    parser.add_argument("--plot", type=Path, default=ROOT / "bench/results/engine.svg")
    arguments = parser.parse_args()
    wanted = localcluster.Wanted(name="bench")
    with localcluster.temporary_cluster(wanted, localcluster.find_binaries()) as cluster:
        figures = asyncio.run(bench(cluster.kubeconfig, arguments))
    print(table(figures))
    publish.write_json(figures, arguments.json)
    publish.write_plot(figures, arguments.plot)
    if arguments.publish:
        (publish.ADMISSION.publish if arguments.admission else publish.publish)(figures)
    if not (arguments.soak or arguments.admission):
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
