"""Stock against warm at the level of the runner: what a run costs, and each task of it.

Both ways alternate in one process, since absolute times drift with whatever else a machine does;
figures are minimum and median. Kubernetes roles need an API server: `rolecall cluster up` gives one.

    python bench/runner_speed.py --kubeconfig "$(rolecall cluster kubeconfig)" --json speed.json
    python bench/runner_speed.py --rounds 3            # without a cluster: no Kubernetes roles
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

# Benches never compare against a baseline that compiles everything anew in each process.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from rolecall.gvk import Gvk
from rolecall.runner import PlayTerms, Runner, RunRequest, RunResult
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm import WarmRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play

_TICKS = os.sysconf("SC_CLK_TCK")
_COLLECTIONS = Path(__file__).parents[1] / ".collections"
_NAME = "bench-{{ ansible_operator_meta.name }}"
_CONFIG = {
    "kubernetes.core.k8s": {
        "definition": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": _NAME, "namespace": "default"},
            "data": {"size": "{{ size | string }}m"},
        }
    }
}
_CLAIM = {
    "kubernetes.core.k8s": {
        "definition": {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": _NAME, "namespace": "default"},
            "spec": {"selector": {"app": _NAME}, "ports": [{"port": 80}]},
        }
    }
}
_LOOK = {
    "kubernetes.core.k8s_info": {"kind": "ConfigMap", "name": _NAME, "namespace": "default"},
    "register": "found",
}
_FACT = {"ansible.builtin.set_fact": {"ready": "{{ size | int + 1 }}"}}
ROLES: dict[str, list[dict[str, Any]]] = {
    "one": [_CONFIG],
    "four": [_CONFIG, _CLAIM, _LOOK, _FACT],
    "set_fact x1": [_FACT],
    "set_fact x11": [_FACT] * 11,
    "k8s x11": [_CONFIG] * 11,
    "k8s_info x1": [_LOOK],
    "k8s_info x11": [_LOOK] * 11,
    "fifty": [_FACT, {"ansible.builtin.assert": {"that": "size == 3"}}] * 25,
}


@dataclass
class Series:
    """Wall and CPU seconds of some runs of one role, one way."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Minimum and median, in milliseconds."""
        return {
            "wall_min_ms": round(min(self.wall_s) * 1000, 1),
            "wall_median_ms": round(statistics.median(self.wall_s) * 1000, 1),
            "cpu_min_ms": round(min(self.cpu_s) * 1000, 1),
            "cpu_median_ms": round(statistics.median(self.cpu_s) * 1000, 1),
        }


class Bench:
    """Both runners over one folder of roles."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self._folder, self._kubeconfig = folder, kubeconfig
        settings = RunnerSettings(
            root=folder / "root", skip_facts=True, collections_path=str(_COLLECTIONS)
        )
        self.stock = StockRunner(settings)
        self.warm = WarmRunner(settings, self.stock)
        self._count = 0

    def role(self, name: str) -> Path:
        """Write a role; returns its folder."""
        role = self._folder / "roles" / name.replace(" ", "_")
        (role / "tasks").mkdir(parents=True, exist_ok=True)
        (role / "tasks" / "main.yml").write_text(yaml.safe_dump(ROLES[name], sort_keys=False))
        return role

    async def run(self, runner: Runner, role: Path, name: str = "one") -> RunResult:
        """Run a role to its end; it must succeed."""
        self._count += 1
        request = RunRequest(
            run_id=f"bench-{self._count}",
            terms=PlayTerms(Gvk("bench.example.com", "v1", "Bench"), Play(role, is_role=True)),
            cr={
                "apiVersion": "bench.example.com/v1",
                "kind": "Bench",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"size": 3},
            },
            is_finalizer=False,
            kubeconfig=self._kubeconfig,
            verbosity=2,
            keep_artifacts=3,
        )
        result = await (await runner.start(request, lambda _event: None)).result()
        if not result.succeeded:
            sys.exit(f"{role.name} failed: {result.reason_text or result.failures}")
        return result

    async def measured(self, runner: Runner, role: Path, series: Series) -> None:
        """One run, added to a series."""
        cpu, wall = self._cpu_s(), time.perf_counter()
        await self.run(runner, role)
        series.wall_s.append(time.perf_counter() - wall)
        await asyncio.sleep(0.2)  # the host reaps just after the result is there
        series.cpu_s.append(self._cpu_s() - cpu)

    def _cpu_s(self) -> float:
        """CPU seconds of all that ran for runs: reaped children of engine and hosts, and the hosts."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = usage.ru_utime + usage.ru_stime
        for pid in self.warm.hosts.pids:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(int(word) for word in words[11:15]) / _TICKS
        return total


async def compare(bench: Bench, rounds: int, *, with_cluster: bool) -> dict[str, Any]:
    """Every role, both ways, alternating."""
    names = [name for name in ROLES if with_cluster or name.startswith(("set_fact", "fifty"))]
    series = {name: {"stock": Series(), "warm": Series()} for name in names}
    for name in names:
        role = bench.role(name)
        for runner in (bench.stock, bench.warm):
            await bench.run(runner, role)
        for _ in range(rounds):
            for way, runner in (("stock", bench.stock), ("warm", bench.warm)):
                if way == "stock" and "x11" in name and len(series[name][way].wall_s) >= 3:
                    continue  # half a minute each, and the ratio is plain by then
                await bench.measured(runner, role, series[name][way])
    return {
        name: {way: one.summary() for way, one in ways.items()} for name, ways in series.items()
    }


def marginal(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Milliseconds of CPU for one more task of a kind: (eleven - one) / 10, from minimums."""
    pairs = {
        "set_fact": ("set_fact x1", "set_fact x11"),
        "k8s_info": ("k8s_info x1", "k8s_info x11"),
        "k8s": ("one", "k8s x11"),
    }
    return {
        kind: {
            way: round((results[many][way]["cpu_min_ms"] - results[one][way]["cpu_min_ms"]) / 10, 1)
            for way in ("stock", "warm")
        }
        for kind, (one, many) in pairs.items()
        if one in results and many in results
    }


async def throughput(bench: Bench, role: Path, runs: int) -> dict[str, float]:
    """Runs per second with 1, 2 and 4 at a time, warm."""
    found = {}
    for width in (1, 2, 4):
        began = time.perf_counter()
        await at_most(
            width,
            [lambda n=n: bench.run(bench.warm, role, f"n{n % 8}") for n in range(runs)],  # type: ignore[misc]
        )
        found[str(width)] = round(runs / (time.perf_counter() - began), 1)
    return found


async def at_most(width: int, work: list[Callable[[], Awaitable[Any]]]) -> None:
    """Do all, so many at a time."""
    gate = asyncio.Semaphore(width)

    async def one(job: Callable[[], Awaitable[Any]]) -> None:
        async with gate:
            await job()

    await asyncio.gather(*(one(job) for job in work))


async def memory(bench: Bench, runs: int) -> dict[str, Any]:
    """Megabytes of host, engine and one run in flight; growth of the host over many runs."""
    (host,) = bench.warm.hosts.pids
    role = bench.role("set_fact x1")
    before = _rollup(host)
    for _ in range(runs):
        await bench.run(bench.warm, role)
    after = _rollup(host)
    ROLES["waits"] = [_FACT, {"ansible.builtin.command": "sleep 1"}]
    waiting = asyncio.create_task(bench.run(bench.warm, bench.role("waits")))
    await asyncio.sleep(0.6)
    child = _rollup(_first_child(host))
    await waiting
    return {
        "host_pss_mb": after["Pss"],
        "engine_pss_mb": _rollup(os.getpid())["Pss"],
        "run_private_mb": child["Private_Dirty"] + child["Private_Clean"],
        "host_growth_mb": after["Rss"] - before["Rss"],
        "runs": runs,
        "host_descriptors": _descriptors(host),
    }


def _first_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _rollup(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) // 1024 for line in lines}


def show(report: dict[str, Any]) -> None:
    """The table."""
    print(f"{'role':<14}{'stock wall':>12}{'cpu':>8}{'warm wall':>12}{'cpu':>8}{'ratio':>8}")
    for name, ways in report["roles"].items():
        stock, warm = ways["stock"], ways["warm"]
        print(
            f"{name:<14}{stock['wall_min_ms']:>9.0f} ms{stock['cpu_min_ms']:>8.0f}"
            f"{warm['wall_min_ms']:>9.0f} ms{warm['cpu_min_ms']:>8.0f}"
            f"{stock['wall_min_ms'] / warm['wall_min_ms']:>7.1f}x"
        )
    print("CPU ms for one more task:", json.dumps(report["marginal_cpu_ms"]))
    print("runs per second, warm, by runs at a time:", json.dumps(report["throughput"]))
    print("memory:", json.dumps(report["memory"]))


async def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=100, help="for throughput and growth")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        bench = Bench(Path(name), asked.kubeconfig or Path(name) / "none")
        try:
            roles = await compare(bench, asked.rounds, with_cluster=asked.kubeconfig is not None)
            busy = bench.role("four" if asked.kubeconfig else "set_fact x1")
            report = {
                "roles": roles,
                "marginal_cpu_ms": marginal(roles),
                "throughput": await throughput(bench, busy, asked.runs),
                "memory": await memory(bench, asked.runs),
                "load": [round(value, 2) for value in os.getloadavg()],
            }
        finally:
            await bench.warm.close()
            await bench.stock.close()
    show(report)
    if asked.json:
        asked.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
