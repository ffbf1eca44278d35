"""What does the record of a run cost: CPU of the engine with it and without it, memory of each read?

    python bench/record_cost.py [--kubeconfig FILE] [--pairs 24] [--edits 10] [--json FILE] [--publish]

Two engines, one of them with `--run-record=false`, work off edits of CRs of their own, in turns, and
each turn begins with the other one. CPU is that of an engine with all its processes, for a run of the
role with four tasks. What other programs do to caches and clocks moves such figures by more than the
record does, so the same is measured inside of one process too, for a run of as many requests; that
figure by the run's is what is promised.

Promised: 2 % of a run's CPU, 150 bytes a read in memory; it fails above.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import KINDS, Engine, World, running
from bench.figures import Figure, failed, limited, table
from bench.measures import quiet
from bench.processes import cpu_s
from bench.publish import RECORD, write_json
from rolecall.clock import SystemClock
from rolecall.extensions.record.notes import RunNotes
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials

FOUR = KINDS["Four"]
ON, OFF = "record-on", "record-off"
REQUESTS, READS, REPETITIONS = 12, 5000, 200
SHARE, READ = "the record's part of a run's CPU", "memory of a read, while its run is in flight"
PROMISED = {SHARE: 2.0, READ: 150.0}


@dataclass(frozen=True)
class About:
    """A request, as the proxy knows it."""

    verb: str
    name: str
    path: str = ""
    group: str = "apps"
    version: str = "v1"
    resource: str = "deployments"
    subresource: str = ""
    namespace: str = "record"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--pairs", type=int, default=24, help="turns of each engine")
    parser.add_argument("--edits", type=int, default=10, help="edits in a turn")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--publish", action="store_true", help="make these the docs' figures")
    options = parser.parse_args()
    with (
        given_or_own(options.kubeconfig, "record-cost") as kubeconfig,
        running("warm", ON, kubeconfig) as on,
        running("warm", OFF, kubeconfig, "--run-record=false") as off,
    ):
        figures = asyncio.run(with_engines(kubeconfig, (on, off), options.pairs, options.edits))
    inside = in_process_ms()
    share = tuple(100 * each / (1e3 * figures[1].median) for each in inside.values)
    figures += [inside, Figure(SHARE, "%", share), Figure(READ, "bytes", (bytes_a_read(),))]
    figures = judged(figures)
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        RECORD.publish(figures)
    return int(bool(failed(figures)))


def judged(figures: list[Figure]) -> list[Figure]:
    """With what is promised."""
    return limited(figures, PROMISED)


async def with_engines(
    kubeconfig: Path, engines: Sequence[Engine], pairs: int, edits: int
) -> list[Figure]:
    """CPU seconds of a run, by engine, and how much more that of the record took in each pair."""
    found: dict[str, list[float]] = {engine.namespace: [] for engine in engines}
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        world = World(api)
        await world.prepare([ON, OFF])
        for engine in engines:
            await world.create(FOUR, engine.namespace, ["one"])
        for number in range(pairs + 1):
            for engine in engines if number % 2 else reversed(engines):
                seconds = await turn(world, engine, engines, f"{number}", edits)
                if number:  # the first warms caches up
                    found[engine.namespace].append(seconds)
    more = tuple(100 * (on / off - 1) for on, off in zip(found[ON], found[OFF], strict=True))
    return [
        Figure("Four, edited: CPU with the record", "s", tuple(found[ON])),
        Figure("Four, edited: CPU without", "s", tuple(found[OFF])),
        Figure("Four, edited: more CPU with the record, by pair", "%", more, is_difference=True),
    ]


async def turn(
    world: World, engine: Engine, engines: Sequence[Engine], note: str, edits: int
) -> float:
    """CPU seconds of one run, on the mean of some edits that follow each other."""
    await quiet([each.pid for each in engines])
    before = cpu_s(engine.pid)
    for number in range(edits):
        await world.edit(FOUR, engine.namespace, ["one"], f"{note}-{number}")
    await quiet([engine.pid])
    return (cpu_s(engine.pid) - before) / edits


def in_process_ms() -> Figure:
    """CPU of all that the record does for one run: notes, tasks, the file."""
    answer, body = answered(0), json.dumps({"spec": deployment(0)["spec"]}).encode()
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(REPETITIONS):
            began = time.process_time()
            notes = new_notes()
            for number in range(REQUESTS):
                is_first = number % 3 == 0
                about = About("patch" if is_first else "get", "web")
                if is_first:
                    start = {"task_uuid": str(number), "task": "deploy", "task_action": "k8s"}
                    notes.task("playbook_on_task_start", start, time.monotonic(), place="a.yml:3")
                noted(notes, about, answer, body if is_first else b"")
                if number % 3 == 2:
                    end = {"task_uuid": str(number - 2), "res": {"changed": True}}
                    notes.task("runner_on_ok", end, time.monotonic())
            notes.write_into(Path(folder))
            seconds.append(time.process_time() - began)
    name = f"the record of {REQUESTS} requests, in one process: CPU"
    return Figure(name, "ms", tuple(1e3 * each for each in seconds))


def bytes_a_read() -> float:
    """Of objects that are all different, as the run that reads them keeps them."""
    answers = [answered(number) for number in range(READS)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    notes = new_notes()
    for number, answer in enumerate(answers):
        noted(notes, About("get", f"web-{number}"), answer, b"")
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / READS


def new_notes() -> RunNotes:
    """Of a run that has just begun."""
    return RunNotes("bench", lambda metadata: bool(metadata.get("ownerReferences")), SystemClock())


def noted(notes: RunNotes, about: About, answer: bytes, body: bytes) -> None:
    """One exchange, as the proxy records it."""
    note = notes.begin(about, "fieldManager=ansible" if body else "")
    note.sent_type, note.answer_type = "application/merge-patch+json", "application/json"
    if body:
        note.send(body)
    note.answer(answer)
    notes.end(note, 200)


def answered(number: int) -> bytes:
    """An object of some size, as the API server sends it."""
    return json.dumps(deployment(number)).encode()


def deployment(number: int) -> dict[str, Any]:
    """With one container, and what the API server adds."""
    container = {
        "name": "web",
        "image": "registry.example.com/web:1",
        "env": [{"name": f"SETTING_{each}", "value": "x"} for each in range(5)],
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    fields: Json = {f"f:{each}": {} for each in range(40)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": f"web-{number}",
            "namespace": "record",
            "uid": f"{number:08x}-1ff1-4d10-9cb4-0f4a8f1f8a11",
            "resourceVersion": str(1_000_000 + number),
            "ownerReferences": [{"uid": "1d9bbd0e-1ff1-4d10-9cb4-0f4a8f1f8a11"}],
            "managedFields": [{"manager": "OpenAPI-Generator", "fieldsV1": {"f:spec": fields}}],
        },
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        "status": {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]},
    }


if __name__ == "__main__":
    sys.exit(main())
