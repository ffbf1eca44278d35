"""What is measured of whole engines, and how; every function returns figures."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from bench.engines import KINDS, Engine, World, running
from bench.figures import Figure
from bench.processes import cpu_s, family, named, open_files, private_mb, pss_mb

# An idle engine wakes up now and then, for its Lease, its streams and its timers.
QUIET_S, QUIET_CPU_S = 0.7, 0.03
# From the status that says so until the run's last process was reaped.
_REAPED_S = 0.1
# Kinds with ten tasks more than `One`, by what those tasks are.
_MORE = {"set_fact": "Facts", "k8s_info": "Reads", "k8s": "Writes"}
_SOAK_AT_ONCE, _SOAK_KINDS = 50, ("One", "Four")


async def latencies(
    world: World, engines: Sequence[Engine], kind: str, rounds: dict[str, int]
) -> list[Figure]:
    """Alternating: one new CR at a time, wall and CPU seconds for each way."""
    wall: dict[str, list[float]] = {engine.way: [] for engine in engines}
    cpu: dict[str, list[float]] = {engine.way: [] for engine in engines}
    for number in range(max(rounds.values()) + 1):
        for engine in engines:
            if number > rounds[engine.way]:
                continue
            await quiet([each.pid for each in engines])
            before = cpu_s(engine.pid)
            took = await world.create(KINDS[kind], engine.namespace, [f"{kind.lower()}-{number}"])
            await asyncio.sleep(_REAPED_S)
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


async def marginals(
    world: World, engines: Sequence[Engine], rounds: dict[str, int], one: Sequence[Figure]
) -> list[Figure]:
    """CPU and wall of one task more, from kinds that have ten more; `one` are those of `One`."""
    base = {figure.name: statistics.mean(figure.values) for figure in one}
    figures = []
    for task, kind in _MORE.items():
        for figure in await latencies(world, engines, kind, rounds):
            what = figure.name.split(": ")[1]
            more = (statistics.mean(figure.values) - base[f"One: {what}"]) / 10
            figures.append(Figure(f"one more {task}: {what}", "ms", (1000 * more,)))
    return figures


async def throughput(world: World, kubeconfig: Path, at_a_time: int, count: int) -> list[Figure]:
    """Four-task reconciles a second, all begun at once: first with all to make, then with nothing."""
    flag = f"--max-concurrent-reconciles={at_a_time}"
    names = [f"many-{at_a_time}-{number}" for number in range(count)]
    with running("warm", "bench-many", kubeconfig, flag, f"--max-runs={at_a_time}") as engine:
        await world.create(KINDS["Four"], "bench-many", [f"first-{at_a_time}"])
        made = await world.create(KINDS["Four"], "bench-many", names)
        await quiet([engine.pid])
        found = await world.edit(KINDS["Four"], "bench-many", names, "nothing to do")
    name = f"Four: warm, {at_a_time} at a time"
    return [
        Figure(f"{name}, all to make", "runs/s", (count / max(made),)),
        Figure(f"{name}, nothing to do", "runs/s", (count / max(found),)),
    ]


async def memory(world: World, engines: Sequence[Engine]) -> list[Figure]:
    """Idle, and with one run of `four` in flight; pages that are shared count once in PSS.

    A minute after the last run, the process that waited for the next one has ended.
    """
    figures = []
    for engine in engines:
        await quiet([engine.pid])
        idle_mb = pss_mb(engine.pid)
        figures.append(Figure(f"idle: {engine.way}, all processes", "MB PSS", (idle_mb,)))
        if host := named(engine.pid, "rolecall-warm"):
            figures.append(Figure("idle: warm host", "MB PSS", (pss_mb(host),)))
            figures.append(Figure("idle: warm host, private", "MB", (private_mb(host),)))
            while named(engine.pid, "rolecall-spare"):  # noqa: ASYNC110 - no event to wait for
                await asyncio.sleep(1)
            late_mb = pss_mb(engine.pid)
            figures.append(Figure("idle for a minute: warm, all processes", "MB PSS", (late_mb,)))
        resting = set(family(engine.pid))
        run = asyncio.create_task(
            world.create(KINDS["Waits"], engine.namespace, [f"waits-{engine.way}"])
        )
        most_mb = most_private_mb = 0.0
        while not run.done():
            await asyncio.sleep(0.05)
            most_mb = max(most_mb, pss_mb(engine.pid) - idle_mb)
            private = sum(private_mb(pid) for pid in set(family(engine.pid)) - resting)
            most_private_mb = max(most_private_mb, private)
        await run
        name = f"in flight: {engine.way}, one run"
        figures.append(Figure(f"{name} adds", "MB PSS", (most_mb,)))
        figures.append(Figure(f"{name}, private", "MB", (most_private_mb,)))
    return figures


async def soak(world: World, engine: Engine, count: int) -> list[Figure]:
    """Many runs for the same CRs, edited again and again; nothing may grow."""
    names = [f"soak-{number}" for number in range(_SOAK_AT_ONCE)]
    seen: list[tuple[float, ...]] = []
    for kind in _SOAK_KINDS:
        await world.create(KINDS[kind], engine.namespace, names)
    rounds = max(1, count // _SOAK_AT_ONCE)
    for number in range(rounds):
        if number % max(1, rounds // 10) == 0:
            seen.append(await _traces(engine))
        kind = _SOAK_KINDS[number % len(_SOAK_KINDS)]
        await world.edit(KINDS[kind], engine.namespace, names, f"round {number}")
    seen.append(await _traces(engine))
    what = (
        *(("engine and host", "MB PSS"), ("host, private", "MB"), ("open files", "")),
        *(("processes", ""), ("temporary files", "")),
    )
    return [
        Figure(f"soak, {rounds * _SOAK_AT_ONCE} runs: {name}", unit, tuple(values), is_course=True)
        for (name, unit), values in zip(what, zip(*seen, strict=True), strict=True)
    ]


async def _traces(engine: Engine) -> tuple[float, ...]:
    await quiet([engine.pid])
    host = named(engine.pid, "rolecall-warm")
    return (
        pss_mb(engine.pid),
        private_mb(host) if host else 0.0,
        float(open_files(engine.pid)),
        float(len(family(engine.pid))),
        float(sum(1 for _ in engine.temporary.rglob("*"))),
    )
