"""What does the page cost an engine that knows very many CRs, with many readers and with none?

    python bench/page.py [--crs 10000] [--readers 50] [--seconds 30] [--rounds 2] [--publish]

Starts a cluster of its own. Engines without a page and with it, in turns. Each is measured twice
while CRs are edited, 20 a second: first without readers, then with them if it has a page. Memory and
CPU of the engine without a page at the same moment are subtracted. Holds of the loop are those that
`--loop-limit` logs, from 10 ms up; on a busy machine other processes hold the loop, too, so the CPU
time of its thread during a hold is shown beside it. A reader's wait is from its request to the last
byte, with readers, engine and control plane on the same machine.

Promised: 10 MB more memory, no more than 20 ms of work at a stretch on the loop; it fails above.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import Engine, running
from bench.figures import Figure, failed, limited, table
from bench.many_crs import free_port, wait_ready
from bench.page_readers import Looks, Reader
from bench.page_world import ONE, busy_of, keys_of, namespaces, prepare, write_runs
from bench.processes import own_cpu_s, own_pss_mb
from bench.publish import LOOKED_AT, write_json
from rolecall.kube import Client, Credentials
from rolecall.workqueue import Key

EDITS_A_SECOND, A_RUN_EVERY_S = 20, 2.0
LOOP_LIMIT_S, SETTLED_S = 0.01, 10.0
MOST_MB, MOST_MS = 10.0, 20.0  # promised
_HELD = re.compile(r"the event loop was blocked.*?\bms=(\d+) cpu_ms=(\d+)")
MEMORY, HOLD = "memory above the same engine without a page", "longest hold of the loop"
WORK = "most work of the loop in a hold"
NO_READERS, MANY = "no readers", "readers"


@dataclass(frozen=True)
class Course:
    """What an engine cost while it was watched for some time."""

    cpu: float  # seconds of a second
    memory_mb: float  # at its end
    most_mb: float
    hold_ms: float
    work_ms: float  # of the loop's thread, in the hold where it was most


@dataclass(frozen=True)
class Wanted:
    kubeconfig: Path
    keys: Sequence[Key]
    tokens: Sequence[str]
    seconds: float


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crs", type=int, default=10000)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with given_or_own(None, "page") as kubeconfig:
        figures = judged(asyncio.run(measured(kubeconfig, options)))
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        LOOKED_AT.publish(figures)
    return int(bool(failed(figures)))


def judged(figures: list[Figure]) -> list[Figure]:
    """With what is promised, in every round."""
    return limited(figures, {f"{MANY}: {MEMORY}": MOST_MB, f"{MANY}: {WORK}": MOST_MS})


async def measured(kubeconfig: Path, options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    keys = keys_of(options.crs)
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        tokens = await prepare(api, keys, options.readers)
        wanted = Wanted(kubeconfig, keys, tokens, options.seconds)
        found: dict[bool, list[tuple[Course, Course]]] = {False: [], True: []}
        looks = Looks()
        for _ in range(options.rounds):
            for has_page, courses in found.items():
                courses.append(await turn(api, wanted, looks, has_page=has_page))
    if looks.refusals:
        raise RuntimeError(f"readers were refused: {sorted(set(looks.refusals))}")
    return [*costs(found[False], found[True]), *waits(looks)]


async def turn(
    api: Client, wanted: Wanted, looks: Looks, *, has_page: bool
) -> tuple[Course, Course]:
    """An engine, measured without readers, and with them where there is a page."""
    probe, page = free_port(), free_port()
    flags = [f"--health-probe-bind-address=127.0.0.1:{probe}", f"--loop-limit={LOOP_LIMIT_S}s"]
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        write_runs(Path(folder), wanted.keys)
        flags.append(f"--artifacts-dir={folder}")
        if has_page:
            flags.append(f"--page-bind-address=127.0.0.1:{page}")
        where = ",".join(namespaces())
        with running("warm", where, wanted.kubeconfig, *flags) as engine:
            await wait_ready(probe)
            await asyncio.sleep(SETTLED_S)
            without = await course(api, wanted, engine, readers=[])
            readers = [
                Reader(page, number, token, wanted.keys, looks)
                for number, token in enumerate(wanted.tokens if has_page else [])
            ]
            return without, await course(api, wanted, engine, readers=readers)


async def course(
    api: Client, wanted: Wanted, engine: Engine, *, readers: Sequence[Reader]
) -> Course:
    """What it costs while CRs are edited."""
    log = engine.temporary.parent / "log"
    log_end = log.stat().st_size
    began, before = time.monotonic(), own_cpu_s(engine.pid)
    memory: list[float] = []
    churn = asyncio.create_task(edit(api, wanted.keys))
    looking = asyncio.gather(*(reader.look(wanted.seconds) for reader in readers))
    while time.monotonic() - began < wanted.seconds:
        await asyncio.sleep(1)
        memory.append(await asyncio.to_thread(own_pss_mb, engine.pid))
    cpu = (own_cpu_s(engine.pid) - before) / (time.monotonic() - began)
    await looking
    churn.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await churn
    with log.open("rb") as file:
        file.seek(log_end)
        text = file.read().decode(errors="replace")
    for line in text.splitlines():
        if "the event loop was blocked" in line:
            print(line, file=sys.stderr)
    holds = [(float(ms), float(cpu_ms)) for ms, cpu_ms in _HELD.findall(text)]
    longest = max((ms for ms, _ in holds), default=0.0)
    work = max((min(pair) for pair in holds), default=0.0)
    return Course(cpu, statistics.median(memory[-5:]), max(memory), longest, work)


async def edit(api: Client, keys: Sequence[Key]) -> None:
    """So many CRs each second, and now and then one that is not paused."""
    busy, number, began = busy_of(keys), 0, time.monotonic()
    paused = keys[len(busy) :]
    while True:
        number += 1
        await asyncio.sleep(max(0.0, began + number / EDITS_A_SECOND - time.monotonic()))
        is_run = number % int(EDITS_A_SECOND * A_RUN_EVERY_S) == 0
        key = busy[number % len(busy)] if is_run else paused[number * 37 % len(paused)]
        note = {"spec": {"note": f"{began}-{number}"}}
        await api.merge_patch(ONE, key.namespace, key.name, note)


def costs(
    without: Sequence[tuple[Course, Course]], with_page: Sequence[tuple[Course, Course]]
) -> list[Figure]:
    """Of the page, and of the engine beside it."""
    figures = []
    for index, who in enumerate((NO_READERS, MANY)):
        pairs = [(a[index], b[index]) for a, b in zip(without, with_page, strict=True)]
        more = tuple(page.memory_mb - bare.memory_mb for bare, page in pairs)
        most = tuple(page.most_mb - bare.most_mb for bare, page in pairs)
        cpu = tuple(page.cpu - bare.cpu for bare, page in pairs)
        work = tuple(page.work_ms for _, page in pairs)
        figures += [
            Figure(f"{who}: {MEMORY}", "MB PSS", more, is_difference=True, judges_most=True),
            Figure(f"{who}: the same, at most", "MB PSS", most, is_difference=True),
            Figure(f"{who}: CPU above it", "s/s", cpu, is_difference=True),
            Figure(f"{who}: {HOLD}", "ms", tuple(page.hold_ms for _, page in pairs)),
            Figure(f"{who}: {WORK}", "ms", work, judges_most=True),
        ]
    bare = [course for pair in without for course in pair]
    return [
        *figures,
        Figure("without a page: memory", "MB PSS", tuple(each.memory_mb for each in bare)),
        Figure("without a page: CPU", "s/s", tuple(each.cpu for each in bare)),
        Figure(f"without a page: {HOLD}", "ms", tuple(each.hold_ms for each in bare)),
        Figure(f"without a page: {WORK}", "ms", tuple(each.work_ms for each in bare)),
    ]


def waits(looks: Looks) -> list[Figure]:
    """Of readers, by what they asked for."""
    figures = []
    for what, seconds in sorted(looks.waits.items()):
        in_ms = tuple(round(1e3 * each, 2) for each in seconds)
        slowest = statistics.quantiles(in_ms, n=20)[-1] if len(in_ms) > 1 else in_ms[0]
        figures += [
            Figure(f"wait for {what}", "ms", in_ms),
            Figure(f"wait for {what}: 95th of 100", "ms", (slowest,)),
        ]
    return [*figures, Figure("changes sent on streams", "", (float(looks.events),))]


if __name__ == "__main__":
    sys.exit(main())
