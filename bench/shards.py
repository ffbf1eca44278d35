"""Several replicas that divide the CRs: what they bring, and what their Leases cost.

    python bench/shards.py [--crs 60] [--publish] [--json FILE]

Starts a cluster of its own. Throughput with 1, 2 and 4 replicas, which share the cores of this machine;
requests for Leases at rest; how long a shard has no holder when its replica gets SIGTERM or SIGKILL.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, PATIENCE_S, Engine, World, running
from bench.figures import Figure, failed, limited, table
from bench.processes import cpu_s, pss_mb
from bench.publish import SHARDED, write_json
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials

LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
SHARDS, LEASE_S = 64, 15.0
REPLICAS = (1, 2, 4)
REST_S = 20.0
# What issue and docs promise.
MOST_HAND_OVER_S, MOST_FAILOVER_S = 1.0, LEASE_S + 2
_REQUESTS = re.compile(
    r'^apiserver_request_total\{(?P<labels>[^}]*resource="leases"[^}]*)\} (?P<value>\S+)$', re.M
)
_TENURE = re.compile(r"lease=bench-member-(\w+)")
_STILL_S, _LOOK_S = 3.0, 0.1
_READS = ("LIST", "GET", "WATCH")


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, default=60)
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(None, "shards") as kubeconfig:
        figures = judged(asyncio.run(measured(kubeconfig, options.crs)))
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        SHARDED.publish(figures)
    return int(bool(failed(figures)))


def judged(figures: list[Figure]) -> list[Figure]:
    """The last two are promised."""
    handed, followed = figures[-2:]
    return limited(figures, {handed.name: MOST_HAND_OVER_S, followed.name: MOST_FAILOVER_S})


async def measured(kubeconfig: Path, crs: int) -> list[Figure]:
    """All figures; those that are promised last."""
    figures: list[Figure] = []
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        await world.prepare([f"shards-{count}" for count in REPLICAS])
        base = await lease_requests(api)
        for count in REPLICAS:
            with ExitStack() as ending:
                engines = [
                    ending.enter_context(replica(f"shards-{count}", kubeconfig))
                    for _ in range(count)
                ]
                leases = Leases(api, f"shards-{count}")
                await leases.divided(count)
                figures += await throughput(world, engines, crs)
                figures += at_rest(base, await lease_requests(api), engines)
                if count == max(REPLICAS):
                    figures += await losses(leases, engines)
    return figures


@contextmanager
def replica(namespace: str, kubeconfig: Path) -> Iterator[Engine]:
    """One engine with shards, which keeps its Leases where its CRs are."""
    flags = (
        f"--shards={SHARDS}",
        "--leader-election-id=bench",
        f"--leader-election-namespace={namespace}",
    )
    with running("warm", namespace, kubeconfig, *flags) as engine:
        yield engine


class Leases:
    """Who holds what, as the API server reports it."""

    def __init__(self, api: Client, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    async def holders(self) -> dict[str, str]:
        """The holder of each shard; empty where it has none."""
        return {
            lease["metadata"]["name"]: lease["spec"].get("holderIdentity") or ""
            for lease in await self._api.list_all(LEASE, self._namespace)
            if "-shard-" in lease["metadata"]["name"]
        }

    async def divided(self, count: int) -> dict[str, str]:
        """Wait until so many replicas have all shards, and nothing moves any more."""
        still_since, last = time.monotonic(), dict[str, str]()
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = await self.holders()
            is_whole = len(found) == SHARDS and all(found.values())
            if found != last or not is_whole or len(set(found.values())) != count:
                still_since, last = time.monotonic(), found
            elif time.monotonic() - still_since > _STILL_S:
                return found
            await asyncio.sleep(_LOOK_S)
        raise TimeoutError(f"{count} replicas did not divide the shards: {last}")

    async def gaps(self, lost: set[str], begin: Callable[[], None]) -> tuple[list[float], float]:
        """For how long each had no holder after the begin, and until the last had a new one."""
        before = await self.holders()
        begin()
        began = time.monotonic()
        empty_since: dict[str, float] = {}
        taken: dict[str, float] = {}
        while len(taken) < len(lost) and time.monotonic() < began + PATIENCE_S:
            now = time.monotonic()
            for name, holder in (await self.holders()).items():
                if name not in lost or name in taken:
                    continue
                if not holder:
                    empty_since.setdefault(name, now)
                elif holder != before[name]:
                    taken[name] = now
            await asyncio.sleep(_LOOK_S / 5)
        waits = [taken[name] - empty_since.get(name, taken[name]) for name in taken]
        return waits, max(taken.values()) - began


async def throughput(world: World, engines: list[Engine], crs: int) -> list[Figure]:
    """Reconciles a second, all begun at once, and their CPU."""
    namespace, count = engines[0].namespace, len(engines)
    await world.create(KINDS["Four"], namespace, [f"first-{number}" for number in range(count * 4)])
    before = sum(cpu_s(engine.pid) for engine in engines)
    took = await world.create(KINDS["Four"], namespace, [f"cr-{number}" for number in range(crs)])
    spent = sum(cpu_s(engine.pid) for engine in engines) - before
    what = f"{count} replica{'s' * (count > 1)}"
    return [
        Figure(f"{what}: reconciles", "runs/s", (crs / max(took),)),
        Figure(f"{what}: CPU of a reconcile, all processes", "s", (spent / crs,)),
        Figure(f"{what}: memory", "MB PSS", (sum(pss_mb(engine.pid) for engine in engines),)),
    ]


async def lease_requests(api: Client) -> dict[str, float]:
    """A second, by verb, while nothing happens."""
    first = await _counted(api)
    began = time.monotonic()
    await asyncio.sleep(REST_S)
    second, took = await _counted(api), time.monotonic() - began
    return {verb: (second[verb] - first.get(verb, 0.0)) / took for verb in second}


async def _counted(api: Client) -> dict[str, float]:
    found: dict[str, float] = {}
    async with api.request_raw("GET", "/metrics") as answer:
        text = (await answer.read()).decode()
    for row in _REQUESTS.finditer(text):
        verb = re.search(r'verb="(\w+)"', row["labels"])
        if verb:
            found[verb[1]] = found.get(verb[1], 0.0) + float(row["value"])
    return found


def at_rest(base: dict[str, float], found: dict[str, float], engines: list[Engine]) -> list[Figure]:
    """Requests for Leases beyond those of the cluster itself."""
    more = {verb: value - base.get(verb, 0.0) for verb, value in found.items()}
    reads = sum(value for verb, value in more.items() if verb in _READS)
    writes = sum(value for verb, value in more.items() if verb not in _READS)
    what = f"{len(engines)} replica{'s' * (len(engines) > 1)}, at rest"
    return [
        Figure(f"{what}: reads of Leases", "1/s", (reads,)),
        Figure(f"{what}: writes of Leases", "1/s", (writes,)),
    ]


async def losses(leases: Leases, engines: list[Engine]) -> list[Figure]:
    """One gets SIGTERM, then another one SIGKILL."""
    gaps, last = await _lost(leases, engines, signal.SIGTERM)
    handed = [
        Figure("terminated: until its last shard has another", "s", (last,)),
        Figure("terminated: a shard has no holder", "s", (statistics.median(gaps),)),
    ]
    _, followed = await _lost(leases, engines, signal.SIGKILL)
    return [
        handed[0],
        handed[1],
        Figure("killed: until its last shard has another", "s", (followed,)),
    ]


async def _lost(
    leases: Leases, engines: list[Engine], number: signal.Signals
) -> tuple[list[float], float]:
    """The shards of whichever ends are those that change hands."""
    engine = engines.pop()
    before = await leases.divided(len(engines) + 1)
    said = _TENURE.findall((engine.temporary.parent / "log").read_text())
    mine = {name for name, holder in before.items() if holder.endswith(f"_{said[-1]}")}
    return await leases.gaps(mine, lambda: os.kill(engine.pid, number))


if __name__ == "__main__":
    sys.exit(main())
