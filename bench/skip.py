"""What does a restart cost with `skipUnchanged`, beside the same CRs run the ordinary way?

    python bench/skip.py [--crs 1000] [--kubeconfig FILE] [--publish] [--json FILE]

CRs of the four-task role are run until nothing is left to do. Then engines are started: one without
CRs, one that skips all, one that runs all. Each is measured with its warm host and all children, once
nothing of them works any more: a host that still loads Ansible would be counted for one and not for the
other. What a CR costs is the difference to the first, by CR; what ten thousand would take is computed
from that, and said to be so.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import socket
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from bench.clusters import given_or_own
from bench.engines import KINDS, PATIENCE_S, PROJECT, Engine, World, create_some, running
from bench.figures import Figure, table
from bench.processes import cpu_s
from bench.publish import SKIP, write_json
from rolecall.kube import Client, Credentials

FOUR = KINDS["Four"]
EMPTY, FULL = "skip-empty", "skip-full"
START_S = 5.0  # an engine without CRs has begun to load Ansible by then
REST_S, REST_CPU_S = 2.0, 0.05  # so little in so long is rest
MANY = 10_000
_SAMPLE = re.compile(r"^(rolecall_runs_(?:skipped_)?total)\{.*\} (\S+)$", re.MULTILINE)


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, default=1000)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--publish", action="store_true", help="make these the docs' figures")
    options = parser.parse_args()
    with given_or_own(options.kubeconfig, "skip-bench") as kubeconfig:
        asyncio.run(prepared(kubeconfig, options.crs))
        figures = measured(kubeconfig, options.crs)
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        SKIP.publish(figures)
    return 0


async def prepared(kubeconfig: Path, count: int) -> None:
    """Namespaces, kinds, and the CRs."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        await world.prepare([EMPTY, FULL])
        await create_some(api, FOUR, FULL, [f"cr-{number}" for number in range(count)])


def measured(kubeconfig: Path, count: int) -> list[Figure]:
    """All figures."""
    with project(skips=True) as skipping, project(skips=False) as ordinary:
        for _ in range(5):  # objects come to rest, and each CR has a run that changed nothing
            with started(kubeconfig, FULL, skipping) as restart:
                restart.wait(lambda runs, skipped: runs + skipped >= count)
                at_rest(restart.engine.pid)  # else runs that follow from those are cut short
                if restart.counts()[0] == 0:
                    break
        with started(kubeconfig, EMPTY, skipping) as restart:
            time.sleep(START_S)
            none_cpu_s = at_rest(restart.engine.pid)
        with started(kubeconfig, FULL, skipping) as restart:
            skip_s = restart.wait(lambda runs, skipped: runs + skipped >= count)
            skip_cpu_s, (runs, _) = at_rest(restart.engine.pid), restart.counts()
        with started(kubeconfig, FULL, ordinary) as restart:
            run_s = restart.wait(lambda runs, _: runs >= count)
            run_cpu_s = at_rest(restart.engine.pid)
    each_ms = (skip_cpu_s - none_cpu_s) / count * 1000
    run_ms = (run_cpu_s - none_cpu_s) / count * 1000
    return [
        Figure(f"{count} CRs after a restart, skipped: runs", "", (float(runs),)),
        Figure(f"{count} CRs after a restart, skipped: until settled", "s", (skip_s,)),
        Figure(f"{count} CRs after a restart, run: until settled", "s", (run_s,)),
        Figure("a skipped CR: CPU of the engine and its host", "ms", (each_ms,)),
        Figure("a CR that is run: CPU of engine and play", "ms", (run_ms,)),
        Figure(f"{MANY} CRs, skipped, computed: CPU", "s", (each_ms * MANY / 1000,)),
        Figure(f"{MANY} CRs, run, computed: CPU", "s", (run_ms * MANY / 1000,)),
    ]


def at_rest(pid: int) -> float:
    """CPU seconds of the family, once it takes no more of them."""
    deadline, before = time.monotonic() + PATIENCE_S, cpu_s(pid)
    while time.monotonic() < deadline:
        time.sleep(REST_S)
        now = cpu_s(pid)
        if now - before <= REST_CPU_S:
            return now
        before = now
    raise TimeoutError("the engine came to no rest")


@contextmanager
def project(*, skips: bool) -> Iterator[Path]:
    """The project of the benches, with the kind of four tasks alone."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROJECT / "roles", Path(folder) / "roles")
        entry = {"group": FOUR.group, "version": FOUR.version, "kind": FOUR.kind, "role": "four"}
        watches = [{**entry, "skipUnchanged": skips, "maxSkip": "24h"}]
        (Path(folder) / "watches.yaml").write_text(yaml.safe_dump(watches))
        yield Path(folder)


class Restart:
    """An engine that was just started."""

    def __init__(self, engine: Engine, port: int) -> None:
        self.engine, self._port, self._began = engine, port, time.monotonic()

    def counts(self) -> tuple[float, float]:
        """Runs, and those that were skipped."""
        url = f"http://127.0.0.1:{self._port}/metrics"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                text = answer.read().decode()
        except OSError:
            return 0.0, 0.0
        found = {"rolecall_runs_total": 0.0, "rolecall_runs_skipped_total": 0.0}
        for name, value in _SAMPLE.findall(text):
            found[name] += float(value)
        return found["rolecall_runs_total"], found["rolecall_runs_skipped_total"]

    def wait(self, is_done: Callable[[float, float], bool]) -> float:
        """Seconds since its start until then."""
        while not is_done(*self.counts()):
            if time.monotonic() - self._began > PATIENCE_S:
                raise TimeoutError(f"the engine came to {self.counts()}")
            time.sleep(0.1)
        return time.monotonic() - self._began


@contextmanager
def started(kubeconfig: Path, namespace: str, folder: Path) -> Iterator[Restart]:
    """An engine with a Lease, so that what it keeps outlives it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [f"--metrics-bind-address=127.0.0.1:{port}", "--leader-elect"]
    flags += ["--leader-election-id=bench", f"--leader-election-namespace={namespace}"]
    with running("warm", namespace, kubeconfig, *flags, project=folder) as engine:
        yield Restart(engine, port)


if __name__ == "__main__":
    raise SystemExit(main())
