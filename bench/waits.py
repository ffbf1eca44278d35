"""What do roles that wait cost others: until all are ready, and what an edit takes meanwhile?

    python bench/waits.py [--crs 20] [--publish] [--json FILE]

Starts a cluster of its own. An engine whose runs keep their slots while they wait, then one as it is by
default: all CRs are created at once, and another one is edited until they are ready.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, World, running
from bench.figures import Figure, failed, limited, table
from bench.publish import WAITS, write_json
from rolecall.kube import Client, Credentials

ONE, PAUSES = KINDS["One"], KINDS["Pauses"]
# As many of one kind as there are slots on two CPUs, so that only the waits are in the way.
KEEPS = ("--max-waiting=0", "--max-concurrent-reconciles=8")
IDLE_EDITS = 20
# What issue and docs promise of waits of 30 s, and what an edit may take to that.
MOST_S, MOST_TIMES = 45.0, 2.0
LEAVE = "slots that runs leave while they wait"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, default=20)
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(None, "waits") as kubeconfig:
        figures = judged(asyncio.run(measured(kubeconfig, options.crs)), options.crs)
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        WAITS.publish(figures)
    return int(bool(failed(figures)))


def judged(figures: list[Figure], crs: int) -> list[Figure]:
    """Those of runs that leave their slots have limits."""
    limits = {
        f"{LEAVE}: {crs} CRs ready": MOST_S,
        f"{LEAVE}: the same, to the one at rest": MOST_TIMES,
    }
    return limited(figures, limits)


async def measured(kubeconfig: Path, crs: int) -> list[Figure]:
    """All figures; those of the default last."""
    figures = []
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        await world.prepare(["waits-keep", "waits-leave"])
        for word, flags in (("keep", KEEPS), ("leave", ())):
            namespace = f"waits-{word}"
            with running("warm", namespace, kubeconfig, *flags):
                figures += await one_engine(world, namespace, crs, word)
    return figures


async def one_engine(world: World, namespace: str, crs: int, word: str) -> list[Figure]:
    """With runs that keep their slots, or leave them."""
    names = [f"cr-{number}" for number in range(crs)]
    await world.create(ONE, namespace, ["other"])
    idle = [await edit(world, namespace, f"idle {number}") for number in range(IDLE_EDITS)]
    creating = asyncio.create_task(world.create(PAUSES, namespace, names))
    meanwhile: list[float] = []
    while not creating.done():
        meanwhile.append(await edit(world, namespace, f"busy {len(meanwhile)}"))
    what = f"slots that runs {word} while they wait"
    return [
        Figure(f"{what}: {crs} CRs ready", "s", (max(await creating),)),
        Figure(f"{what}: edit, at rest", "s", tuple(idle)),
        Figure(f"{what}: edit, meanwhile", "s", tuple(meanwhile)),
        Figure(f"{what}: the same, to the one at rest", "x", (ratio(meanwhile, idle),)),
    ]


async def edit(world: World, namespace: str, note: str) -> float:
    """Seconds from an edit to `Successful`."""
    return (await world.edit(ONE, namespace, ["other"], note))[0]


def ratio(meanwhile: list[float], idle: list[float]) -> float:
    """Of the ordinary edit."""
    return statistics.median(meanwhile) / statistics.median(idle)


if __name__ == "__main__":
    sys.exit(main())
