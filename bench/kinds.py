"""How long each kind takes for what its users do: the table of docs/reference/kind-times.md.

    python bench/kinds.py [--rounds N]      (`make bench-kinds`)

The steps are those of tests/e2e/own, by one engine, one kind after the other, each round in a namespace
of its own. Medians; looked at every 20 ms, and at what takes longer each fiftieth of it. Load of the
machine before and after stands below.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import yaml

from rolecall.json_object import Json

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.engine import EngineProcess  # noqa: E402
from tests.e2e.own.cases import CASES  # noqa: E402
from tests.e2e.own.life import STEPS, Life  # noqa: E402
from tests.fixtures.eventually import eventually_async  # noqa: E402

from rolecall.gvk import Gvk  # noqa: E402
from rolecall.kube import Client, Credentials, UnprocessableError  # noqa: E402
from rolecall_dev import localcluster  # noqa: E402
from rolecall_dev.localcluster import Cluster  # noqa: E402

NAMESPACE = Gvk("", "v1", "Namespace")
MACHINE = Gvk("compute.rolecall.dev", "v1alpha1", "Machine")
OPERATION = Gvk("compute.rolecall.dev", "v1alpha1", "MachineOperation")
Seconds = dict[str, dict[str, list[float]]]  # kind, step, rounds


@contextlib.contextmanager
def running_engine() -> Iterator[Cluster]:
    """A cluster with our kinds, and an engine that is ready."""
    wanted = localcluster.Wanted(name=f"bench-{os.getpid()}")
    binaries = localcluster.find_binaries().require()
    with (
        localcluster.temporary_cluster(wanted, binaries) as cluster,
        tempfile.TemporaryDirectory(prefix="b") as folder,
    ):
        scratch = Path(folder)
        cluster.kubectl("apply", "--server-side", "-k", str(ROOT / "crds"))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
        everywhere = {"WATCH_NAMESPACE": ""}
        engine = EngineProcess(
            ROOT, scratch / "engine", kubeconfig=cluster.kubeconfig, environment=everywhere
        )
        try:
            engine.wait_ready()
            yield cluster
        finally:
            engine.clean_up()


async def measure(cluster: Cluster, rounds: int) -> Seconds:
    """Every kind through its life, as often as asked for."""
    seconds: Seconds = defaultdict(lambda: defaultdict(list))
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with Client(credentials) as api:
        for number in range(rounds):
            namespace = f"round-{number}"
            await api.create(NAMESPACE, {"metadata": {"name": namespace}})
            for case in CASES:
                _add(seconds[case.gvk.kind], await Life(api, case, namespace).live())
            _add(seconds["MachineOperation"], await operation(api, namespace))
    return seconds


def _add(steps: dict[str, list[float]], took: dict[str, float]) -> None:
    for step, seconds in took.items():
        steps[step].append(seconds)


async def operation(api: Client, namespace: str) -> dict[str, float]:
    """It is done once and cannot be edited, and has no children: a reboot, a refusal, its end."""
    machine, reboot = _sample("machine", namespace), _sample("machineoperation", namespace)
    await api.create(MACHINE, machine)
    await eventually_async(lambda: api.get(MACHINE, namespace, _name(machine)), _is_ready)
    began = time.monotonic()
    await api.create(OPERATION, reboot)
    await eventually_async(lambda: api.get(OPERATION, namespace, _name(reboot)), _is_ready)
    succeeded = time.monotonic()
    with contextlib.suppress(UnprocessableError):
        edit = {"spec": {"type": "Rebuild"}}
        await api.merge_patch(OPERATION, namespace, _name(reboot), edit)
        raise AssertionError("an operation was changed")
    refused = time.monotonic()
    await api.delete(OPERATION, namespace, _name(reboot))
    ended = time.monotonic()
    return {"create": succeeded - began, "bad spec": refused - succeeded, "delete": ended - refused}


def _sample(stem: str, namespace: str) -> Json:
    body: Json = yaml.safe_load((ROOT / "config" / "samples" / f"{stem}.yaml").read_text())
    return body | {"metadata": body["metadata"] | {"namespace": namespace}}


def _name(body: Json) -> str:
    return str(body["metadata"]["name"])


def _is_ready(cr: Json) -> bool:
    conditions = cr.get("status", {}).get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)


def table(seconds: Seconds) -> str:
    """Markdown: a line a kind, a column a step."""
    lines = [f"| kind | {' | '.join(STEPS)} |", f"|---|{'---:|' * len(STEPS)}"]
    for kind, steps in seconds.items():
        cells = (f"{statistics.median(steps[step]):.2f}" if step in steps else "" for step in STEPS)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    rounds = parser.parse_args().rounds
    before, began = os.getloadavg()[0], time.monotonic()
    with running_engine() as cluster:
        seconds = asyncio.run(measure(cluster, rounds))
    print(table(seconds))
    print(
        f"\nMedians of {rounds} rounds in {time.monotonic() - began:.0f} s on {os.cpu_count()} CPUs;"
        f" load before {before:.2f}, after {os.getloadavg()[0]:.2f}."
    )


if __name__ == "__main__":
    main()
