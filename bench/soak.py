"""Thousands of runs of one engine: what grows?

    python bench/soak.py [--runs 10000] [--minutes 60] [--publish] [--json FILE]    (`make soak`)

One warm engine on a cluster of its own, and rounds without end: 40 CRs that stay are edited, five of
them so that their runs fail and back off until the next edit; five others are deleted, with a finalizer
run each, and five of new names take their place. At rest after every few rounds, memory, descriptors,
threads, processes and files of the engine with all below it are sampled. `growth.py` says what counts
as growth; where something grows it is named, and the exit code is 1. Memory is private memory: that of
libraries is divided by all programs of the machine that use them, and moves with those. The exit code
is 1, too, where a CR or an object of a deleted one stayed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, PATIENCE_S, Engine, World, running
from bench.figures import FEWEST, Figure, failed, limited, table
from bench.growth import growth_of, with_growth_limits
from bench.many_crs import free_port
from bench.measures import quiet
from bench.processes import family, named, open_files, private_mb, threads
from bench.publish import SOAK, write_json
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials

MIXED, CONFIG_MAP = KINDS["Mixed"], Gvk("", "v1", "ConfigMap")
NAMESPACE = "soak"
STAY, GO, FAIL = 40, 5, 5
AT_ONCE = 10
ROUNDS_TO_FILL = 20  # so many runs of a CR are kept; growth before is none
_LOOK_S = 0.25
_RUNS = re.compile(r"^rolecall_runs_total\{(.*)\} (\S+)$", re.MULTILINE)
NOTHING = "objects left behind"
SAMPLED = (
    ("engine, private memory", "MB"),
    ("warm host, private memory", "MB"),
    ("descriptors", ""),
    ("threads", ""),
    ("processes", ""),
    ("temporary files", ""),
    ("files of runs", ""),
)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument(
        "--minutes", type=float, default=24 * 60, help="end after so many, with fewer runs"
    )
    parser.add_argument("--kubeconfig", type=Path, help="of a cluster that is there already")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    options = parser.parse_args()
    with given_or_own(options.kubeconfig, "soak") as kubeconfig:
        soak = asyncio.run(soaked(kubeconfig, options.runs, options.minutes))
    figures = judged(soak.figures())
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        SOAK.publish(figures)
    verdicts = [growth_of(figure) for figure in figures if figure.is_course]
    print("\n".join([*map(str, verdicts), *(f"LEFT: {what}" for what in soak.left)]))
    return int(bool(failed(figures)))


def judged(figures: list[Figure]) -> list[Figure]:
    """No course may grow, and nothing may be left."""
    nothing = {each.name: 0.0 for each in figures if each.name.endswith(NOTHING)}
    return limited(with_growth_limits(figures), nothing)


@dataclass
class Soak:
    """One soak under way."""

    api: Client
    engine: Engine
    port: int  # of its metrics
    wanted: int  # runs
    minutes: float  # at most
    samples: list[tuple[float, ...]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    runs: dict[str, float] = field(default_factory=dict)  # by result
    seconds: float = 0.0
    rounds: int = 0

    async def run(self) -> None:
        """Until so many runs were made."""
        began = time.monotonic()
        await self._all(self._create, [f"stays-{number}" for number in range(STAY)])
        await self._all(self._create, [_passing(number) for number in range(GO)])
        await self._settled()
        every = 1
        while len(self.samples) < FEWEST or self._goes_on(time.monotonic() - began):
            await self._round()
            if self.rounds > ROUNDS_TO_FILL and self.rounds % every == 0:
                await self._sample()
                each = sum(self.runs.values()) / self.rounds
                every = max(1, int(self.wanted / each / (4 * FEWEST)))
                print(f"{self._so_far():.0f} runs: {self.samples[-1]}", file=sys.stderr, flush=True)
        self.seconds = time.monotonic() - began
        await self._look_for_orphans()

    def _goes_on(self, seconds: float) -> bool:
        return self._so_far() < self.wanted and seconds < self.minutes * 60

    async def _round(self) -> None:
        self.rounds += 1
        names = [f"stays-{number}" for number in range(STAY)]
        failing = {names[(self.rounds * FAIL + number) % STAY] for number in range(FAIL)}
        await self._all(lambda name: self._edit(name, fails=name in failing), names)
        first = (self.rounds - 1) * GO
        await self._all(self._delete, [_passing(first + number) for number in range(GO)])
        await self._all(self._create, [_passing(first + GO + number) for number in range(GO)])
        await self._settled()
        await self._all(lambda name: self._edit(name, fails=False), sorted(failing))
        await self._settled()

    async def _settled(self) -> None:
        """Until there are as many CRs as there should be, and each has had its newest run."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                crs = await self.api.list_all(MIXED, NAMESPACE)
                if len(crs) == STAY + GO and all(map(had_its_run, crs)):
                    return
                await asyncio.sleep(_LOOK_S)

    async def _sample(self) -> None:
        pid = self.engine.pid
        await quiet([pid])
        host = named(pid, "rolecall-warm")
        self.runs = await asyncio.to_thread(runs_by_result, self.port)
        self.samples.append(
            (
                private_mb(pid),
                private_mb(host) if host else 0.0,
                float(open_files(pid)),
                float(sum(_threads_of(each) for each in family(pid))),
                float(len(family(pid))),
                float(_files_below(self.engine.temporary)),
                float(_files_below(self.engine.artifacts)),
            )
        )

    async def _look_for_orphans(self) -> None:
        """All CRs go at last, and with them whatever their runs made."""
        names = [cr["metadata"]["name"] for cr in (await self._crs())]
        await self._all(self._delete, names)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while await self._crs() or await self._made():  # noqa: ASYNC110 - no event to wait for
                    await asyncio.sleep(_LOOK_S)
        self.left += [f"CR {cr['metadata']['name']}" for cr in await self._crs()]
        self.left += [f"ConfigMap {name}" for name in await self._made()]

    async def _crs(self) -> Sequence[Json]:
        return await self.api.list_all(MIXED, NAMESPACE)

    async def _made(self) -> list[str]:
        names = [one["metadata"]["name"] for one in await self.api.list_all(CONFIG_MAP, NAMESPACE)]
        return [name for name in names if name != "kube-root-ca.crt"]

    def figures(self) -> list[Figure]:
        """Counts, and the course of each thing that was sampled."""
        total = self._so_far()
        counts = [
            Figure(f"soak: runs that {result}", "", (count,)) for result, count in self.runs.items()
        ]
        counts.append(Figure("soak: runs a second", "runs/s", (total / self.seconds,)))
        counts.append(Figure("soak: objects left behind", "", (float(len(self.left)),)))
        return counts + [
            Figure(f"soak, {total:.0f} runs: {name}", unit, tuple(values), is_course=True)
            for (name, unit), values in zip(SAMPLED, zip(*self.samples, strict=True), strict=True)
        ]

    def _so_far(self) -> float:
        return sum(self.runs.values())

    async def _all(self, write, names: Sequence[str]) -> None:  # type: ignore[no-untyped-def]
        left = iter(names)

        async def some() -> None:
            for name in left:
                await write(name)

        await asyncio.gather(*(some() for _ in range(AT_ONCE)))

    async def _create(self, name: str) -> None:
        metadata = {"name": name, "namespace": NAMESPACE}
        body = {"apiVersion": MIXED.api_version, "kind": MIXED.kind, "metadata": metadata}
        await self.api.create(MIXED, {**body, "spec": {"note": "new"}})

    async def _edit(self, name: str, *, fails: bool) -> None:
        spec = {"note": f"{self.rounds}", "fails": fails}
        await self.api.merge_patch(MIXED, NAMESPACE, name, {"spec": spec})

    async def _delete(self, name: str) -> None:
        await self.api.delete(MIXED, NAMESPACE, name)


async def soaked(kubeconfig: Path, runs: int, minutes: float) -> Soak:
    """A soak that is over."""
    port = free_port()
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await World(api).prepare([NAMESPACE])
        metrics = f"--metrics-bind-address=127.0.0.1:{port}"
        with running("warm", NAMESPACE, kubeconfig, metrics) as engine:
            soak = Soak(api, engine, port, runs, minutes)
            await soak.run()
    return soak


def _passing(number: int) -> str:
    return f"passes-{number}"


def had_its_run(cr: Json) -> bool:
    """Whether status reports the newest generation, with the result that the spec asks for."""
    status = cr.get("status") or {}
    is_seen = status.get("observedGeneration") == cr["metadata"]["generation"]
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    wanted = "Failure" if cr["spec"].get("fails") else "Successful"
    is_deleted = bool(cr["metadata"].get("deletionTimestamp"))
    return is_seen and not is_deleted and conditions.get(wanted) == "True"


def runs_by_result(port: int) -> dict[str, float]:
    """How many ended, as an engine's metrics say."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    for labels, value in _RUNS.findall(text):
        result = "failed" if 'result="failed"' in labels else "succeeded"
        found[result] = found.get(result, 0.0) + float(value)
    return found


def _threads_of(pid: int) -> int:
    try:
        return threads(pid)
    except OSError:
        return 0  # it ended while we looked


def _files_below(folder: Path) -> int:
    """`os.walk` passes over what the engine tidies away meanwhile; `rglob` raises for it."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


if __name__ == "__main__":
    sys.exit(main())
