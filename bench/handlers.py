"""What do handlers beside roles cost, and how fast do they answer?

    python bench/handlers.py [--edits 50] [--timers 1000] [--seconds 30] [--kubeconfig FILE]

One engine has a kind with a one-task role, and a kind with `on.field`. CRs of both are edited in turns,
one at a time: how long until the role's success, or the handler's word, is in status? Then CRs of a
kind with a timer of ten seconds wait: memory of the process of handlers, and the CPU of it and of the
engine, with so many timers and without.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from bench.clusters import given_or_own
from bench.engines import KINDS, PATIENCE_S, PROJECT, Engine, World, create_some, running
from bench.figures import Figure, table
from bench.processes import family, own_cpu_s, own_pss_mb
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials

ROLE, FIELD, TIMER = KINDS["One"], KINDS["Four"], KINDS["Mixed"]
NAMESPACE = "handlers"
CODE = """
import kopf

@kopf.on.field("fours", field="spec.note")
async def noted(new, patch, **_):
    patch.status["noted"] = new

@kopf.timer("mixeds", interval=10, initial_delay=1)
async def tick(patch, status, **_):
    patch.status["ticks"] = status.get("ticks", 0) + 1
"""


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--timers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--kubeconfig", type=Path)
    options = parser.parse_args()
    with given_or_own(options.kubeconfig, "handlers-bench") as kubeconfig:
        figures = asyncio.run(measured(kubeconfig, options.edits, options.timers, options.seconds))
    print(table(figures))
    return 0


async def measured(kubeconfig: Path, edits: int, timers: int, seconds: float) -> list[Figure]:
    """All figures."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await World(api).prepare([NAMESPACE])
        with project() as folder, running("warm", NAMESPACE, kubeconfig, project=folder) as engine:
            figures = await answers(api, edits)
            handlers = child_of(engine)
            figures.append(Figure("process of handlers: memory", "MB", (own_pss_mb(handlers),)))
            idle = await cpu(engine, handlers, seconds)
            await create_some(api, TIMER, NAMESPACE, [f"t{number}" for number in range(timers)])
            await ticking(api, timers)
            busy = await cpu(engine, handlers, seconds)
            figures.append(
                Figure(
                    f"process of handlers: memory, {timers} timers", "MB", (own_pss_mb(handlers),)
                )
            )
    names = ("process of handlers", "engine")
    for name, before, after in zip(names, idle, busy, strict=True):
        figures.append(Figure(f"{name}: CPU, no timer", "% of a core", (before,)))
        figures.append(Figure(f"{name}: CPU, {timers} timers of 10 s", "% of a core", (after,)))
    return figures


async def answers(api: Client, edits: int) -> list[Figure]:
    """Seconds from an edit until its answer is in status, of a role and of a handler in turns."""
    await create_some(api, ROLE, NAMESPACE, ["x"])
    await create_some(api, FIELD, NAMESPACE, ["x"])
    took: dict[Gvk, list[float]] = {ROLE: [], FIELD: []}
    for number in range(-5, edits):  # the first ones warm up
        for gvk, seconds in took.items():
            begun = time.monotonic()
            note = f"n{number}"
            edited = await api.merge_patch(gvk, NAMESPACE, "x", {"spec": {"note": note}})
            await answered(api, gvk, note, edited["metadata"]["generation"])
            if number >= 0:
                seconds.append(time.monotonic() - begun)
    named = {"role": took[ROLE], "on.field": took[FIELD]}
    return [
        figure
        for name, values in named.items()
        for figure in (
            Figure(f"edit until {name} has answered: median", "s", tuple(values)),
            Figure(
                f"edit until {name} has answered: 95th of 100",
                "s",
                (sorted(values)[-len(values) // 20],),
            ),
        )
    ]


async def answered(api: Client, gvk: Gvk, note: str, generation: int) -> None:
    """Look every 5 ms."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        status = (await api.get(gvk, NAMESPACE, "x")).get("status", {})
        ended = [row for row in status.get("conditions", []) if row["type"] == "Successful"]
        if gvk == FIELD and status.get("noted") == note:
            return
        is_seen = status.get("observedGeneration") == generation
        if gvk == ROLE and is_seen and ended and ended[0]["status"] == "True":
            return
        await asyncio.sleep(0.005)
    raise TimeoutError(f"{gvk} did not answer")


async def ticking(api: Client, count: int) -> None:
    """Wait until every timer has acted."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = await api.list_all(TIMER, NAMESPACE)
        if sum("ticks" in each.get("status", {}) for each in found) >= count:
            return
        await asyncio.sleep(1.0)
    raise TimeoutError("not every timer acted")


async def cpu(engine: Engine, handlers: int, seconds: float) -> tuple[float, float]:
    """Per cent of a core that handlers and engine take while nothing else happens."""
    before, began = (own_cpu_s(handlers), own_cpu_s(engine.pid)), time.monotonic()
    await asyncio.sleep(seconds)
    took = time.monotonic() - began
    after = (own_cpu_s(handlers), own_cpu_s(engine.pid))
    first, second = ((new - old) / took * 100 for old, new in zip(before, after, strict=True))
    return first, second


def child_of(engine: Engine) -> int:
    """The process of handlers."""
    for pid in family(engine.pid):
        if b"rolecall.extensions.handlers.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    raise LookupError("the engine has no process of handlers")


@contextmanager
def project() -> Iterator[Path]:
    """A role for one kind, handlers for two."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "roles").symlink_to(PROJECT / "roles")
        (folder / "handlers.py").write_text(CODE)
        watches = [{**_entry(ROLE), "role": "one"}]
        watches += [{**_entry(gvk), "handlers": "handlers.py"} for gvk in (FIELD, TIMER)]
        (folder / "watches.yaml").write_text(yaml.safe_dump(watches))
        yield folder


def _entry(gvk: Gvk) -> dict[str, str]:
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


if __name__ == "__main__":
    raise SystemExit(main())
