"""So many edits a second, for so long: does an engine keep up, and what is left when they end?

    python bench/churn.py [--rate 20] [--minutes 60] [--crs 20] [--publish]   (`make churn`)

One warm engine on a cluster of its own, and CRs of which one by chance is edited at each beat, whatever
the engine makes of it: edits of a CR that waits already join its turn. One beat in a hundred deletes
that CR, with its finalizer run, and makes it anew. Fails where, after the last edit, a CR or its object
does not become what the last edit said, where two runs of a CR were under way at a time, where
something of the engine grows (`growth.py`), or where something is left when all CRs are deleted.

The lag of an edit is the time until a watcher sees it in a status.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import sys
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, PATIENCE_S, Engine, World, running
from bench.figures import FEWEST, Figure, failed, limited, table
from bench.growth import growth_of, with_growth_limits
from bench.many_crs import free_port
from bench.processes import open_files, private_mb, threads
from bench.publish import CHURN, write_json
from bench.soak import had_its_run, runs_by_result
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_crs
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, Credentials

MIXED, CONFIG_MAP = KINDS["Mixed"], Gvk("", "v1", "ConfigMap")
NAMESPACE = "churn"
_LOOK_S = 0.5
_SEED = 7
_ANEW = 100  # one edit in so many is a deletion, and a CR of the same name
_SAMPLES = 40
NOTHING = "faults found"
SAMPLED = (("engine, private memory", "MB"), ("descriptors", ""), ("threads", ""))


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=20.0, help="edits a second")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--crs", type=int, default=20)
    parser.add_argument("--kubeconfig", type=Path, help="of a cluster that is there already")
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(options.kubeconfig, "churn") as kubeconfig:
        churn = asyncio.run(churned(kubeconfig, options.crs, options.rate, options.minutes * 60))
    figures = judged(churn.figures())
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        CHURN.publish(figures)
    verdicts = [growth_of(figure) for figure in figures if figure.is_course]
    print("\n".join([*map(str, verdicts), *(f"WRONG: {what}" for what in churn.wrong)]))
    return int(bool(failed(figures)))


def judged(figures: list[Figure]) -> list[Figure]:
    """No course may grow, and nothing may be wrong."""
    nothing = {each.name: 0.0 for each in figures if each.name.endswith(NOTHING)}
    return limited(with_growth_limits(figures), nothing)


async def churned(kubeconfig: Path, crs: int, rate: float, seconds: float) -> Churn:
    """A churn that is over."""
    port = free_port()
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await World(api).prepare([NAMESPACE])
        metrics = f"--metrics-bind-address=127.0.0.1:{port}"
        # One run at a time: what is asked is whether the engine keeps up, not how many cores it takes.
        with running("warm", NAMESPACE, kubeconfig, metrics, "--max-runs=1") as engine:
            churn = Churn(
                api, engine, port, [f"cr-{number}" for number in range(crs)], rate, seconds
            )
            await churn.run()
    return churn


@dataclass
class Churn:
    """One churn under way."""

    api: Client
    engine: Engine
    port: int  # of its metrics
    names: list[str]
    rate: float
    seconds: float
    edits: int = 0
    runs: float = 0.0
    settled_s: float = 0.0
    notes: dict[str, str] = field(default_factory=dict)  # what the last edit of each CR said
    unreported: dict[str, list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    lags_s: list[float] = field(default_factory=list)
    samples: list[tuple[float, ...]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Edit, settle, look, remove."""
        for name in self.names:
            await self._create(name)
        await self._all_reported()
        before = await self._runs()
        following = asyncio.create_task(self._follow())
        sampling = asyncio.create_task(self._sample())
        await self._edit_at_the_rate()
        ended = time.monotonic()
        await self._all_reported()
        self.settled_s = time.monotonic() - ended
        self.runs = await self._runs() - before
        for task in (following, sampling):
            task.cancel()
        await asyncio.gather(following, sampling, return_exceptions=True)
        await self._look_at_objects()
        self._look_for_doubled_runs()
        await self._look_for_leavings()

    async def _edit_at_the_rate(self) -> None:
        """As if no edit were waited for."""
        chosen = random.Random(_SEED)
        began = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            busy: set[str] = set()  # being edited: edits of one CR keep their order
            while (now_s := time.monotonic() - began) < self.seconds:
                free = [name for name in self.names if name not in busy]
                if self.edits < now_s * self.rate and free:
                    self.edits += 1
                    name = chosen.choice(free)
                    busy.add(name)
                    task = tasks.create_task(self._edit(name, self.edits))
                    task.add_done_callback(lambda _, name=name: busy.discard(name))  # type: ignore[misc]
                else:
                    await asyncio.sleep(1 / self.rate / 4)

    async def _edit(self, name: str, number: int) -> None:
        note = f"{number}"
        if number % _ANEW == 0:
            self.unreported[name].clear()
            await self.api.delete(MIXED, NAMESPACE, name)
            await self._create(name, note)
            return
        patch = {"spec": {"note": note}}
        made = await self.api.merge_patch(MIXED, NAMESPACE, name, patch)
        self.notes[name] = note
        self.unreported[name].append((made["metadata"]["generation"], time.monotonic()))

    async def _create(self, name: str, note: str = "new") -> None:
        metadata = {"name": name, "namespace": NAMESPACE}
        body = {"apiVersion": MIXED.api_version, "kind": MIXED.kind, "metadata": metadata}
        async with asyncio.timeout(PATIENCE_S):
            while True:
                with suppress(AlreadyExistsError):  # its finalizer run goes on
                    await self.api.create(MIXED, {**body, "spec": {"note": note}})
                    self.notes[name] = note
                    return
                await asyncio.sleep(_LOOK_S / 5)

    async def _follow(self) -> None:
        """Note for each edit when a status reported it."""
        while True:
            async for event in self.api.watch(MIXED, NAMESPACE, resource_version=""):
                if event.type in ("ADDED", "MODIFIED"):
                    self._note_reported(event.object)

    def _note_reported(self, cr: Json) -> None:
        reported = int((cr.get("status") or {}).get("observedGeneration") or 0)
        unreported = self.unreported[cr["metadata"]["name"]]
        now = time.monotonic()
        while unreported and unreported[0][0] <= reported:
            self.lags_s.append(now - unreported.pop(0)[1])

    async def _sample(self) -> None:
        pid = self.engine.pid
        while True:
            await asyncio.sleep(self.seconds / _SAMPLES)
            self.samples.append((private_mb(pid), float(open_files(pid)), float(threads(pid))))

    async def _all_reported(self) -> None:
        """Until each CR's status reports its newest generation."""
        crs: list[Json] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    crs = await self.api.list_all(MIXED, NAMESPACE)
                    if len(crs) == len(self.names) and all(map(had_its_run, crs)):
                        return
                    await asyncio.sleep(_LOOK_S)
        late = [cr["metadata"]["name"] for cr in crs if not had_its_run(cr)]
        self.wrong.append(f"{len(crs)} CRs of {len(self.names)}; not reported: {', '.join(late)}")

    async def _look_at_objects(self) -> None:
        """Each CR, and the object of each, says what the last edit said."""
        for name in self.names:
            cr = await self.api.get(MIXED, NAMESPACE, name)
            made = await self.api.get(CONFIG_MAP, NAMESPACE, name)
            said = (cr["spec"]["note"], made["data"]["note"])
            if said != (self.notes[name], self.notes[name]):
                self.wrong.append(f"{name}: the last edit says {self.notes[name]}, they say {said}")
            if not cr["metadata"].get("finalizers"):
                self.wrong.append(f"{name} has lost its finalizer")

    def _look_for_doubled_runs(self) -> None:
        """Of the runs that are still kept."""
        for kept in kept_crs(self.engine.temporary.parent / "runs"):
            runs = sorted((run for run in kept.runs() if run.began), key=_began_s)
            for earlier, later in itertools.pairwise(runs):
                if earlier.ended is None or earlier.ended.timestamp() > _began_s(later):
                    self.wrong.append(f"{kept.name}: {earlier.run} and {later.run} at a time")

    async def _look_for_leavings(self) -> None:
        """All CRs go at last, and with them whatever their runs made."""
        for name in self.names:
            await self.api.delete(MIXED, NAMESPACE, name)
        left: list[Json] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    made = await self.api.list_all(CONFIG_MAP, NAMESPACE)
                    left = [one for one in made if one["metadata"]["name"] in self.names]
                    left += await self.api.list_all(MIXED, NAMESPACE)
                    if not left:
                        return
                    await asyncio.sleep(_LOOK_S)
        self.wrong += [f"{one.get('kind')} {one['metadata']['name']} was left" for one in left]

    async def _runs(self) -> float:
        return sum((await asyncio.to_thread(runs_by_result, self.port)).values())

    def figures(self) -> list[Figure]:
        """Counts, lags, and the course of each thing that was sampled."""
        name = f"churn, {len(self.names)} CRs, {self.rate:g} edits/s for {self.seconds / 60:g} min"
        part = statistics.quantiles(self.lags_s, n=100)
        counts = [
            Figure(f"{name}: edits", "", (float(self.edits),)),
            Figure(f"{name}: runs", "", (self.runs,)),
            Figure(f"{name}: edits reported in status", "", (float(len(self.lags_s)),)),
            Figure(f"{name}: from edit to report, p50", "s", (part[49],)),
            Figure(f"{name}: from edit to report, p99", "s", (part[98],)),
            Figure(f"{name}: from the last edit until all are reported", "s", (self.settled_s,)),
            Figure(f"{name}: {NOTHING}", "", (float(len(self.wrong)),)),
        ]
        if len(self.samples) < FEWEST:
            return counts
        return counts + [
            Figure(f"{name}: {what}", unit, tuple(values), is_course=True)
            for (what, unit), values in zip(SAMPLED, zip(*self.samples, strict=True), strict=True)
        ]


def _began_s(run: KeptRun) -> float:
    return run.began.timestamp() if run.began else 0.0


if __name__ == "__main__":
    sys.exit(main())
