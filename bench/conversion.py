"""What does a version that is not the stored one cost, in the engine and for its clients?

    python bench/conversion.py [--kubeconfig FILE] [--requests 200] [--publish] [--json FILE]

Starts a cluster of its own unless it is given one. In the engine: a review of one object and one of a
thousand, from bytes to bytes, for one step of rules and for two. From outside: GETs of one object at
the stored version and at others, which alternate, first with nothing else to do, then beside 50 such
GETs a second; and lists of 1,000 objects, which the API server's cache holds converted. `--publish`
makes them the figures of the docs.

The promise is at most 1 ms of the engine for an object; it fails above.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.clusters import given_or_own
from bench.engines import CRD, NAMESPACE, PATIENCE_S, ROOT, running
from bench.figures import Figure, failed, limited, table
from bench.publish import CONVERSION, write_json
from rolecall.conversion import Conversion, load_conversions
from rolecall.extensions.versions.webhooks.conversion_review import answer_conversions
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials

PROJECT = ROOT / "tests" / "e2e" / "versions"
GROUP = "versions.rolecall.dev"
STORED, LATER, OLDER = (Gvk(GROUP, version, "Fleet") for version in ("v1beta1", "v1", "v1alpha1"))
PLACE = "conversion"
MANY = 1000
PAUSE_S = 0.02
PROMISED_MS = 1.0
SPEC: Json = {
    "replicas": 3,
    "image": {"repository": "registry:5000/app", "tag": "1.0"},
    "env": [{"name": f"NAME_{number}", "value": "x" * 20} for number in range(10)],
    "note": "mine",
}


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--requests", type=int, default=200, help="for each version")
    parser.add_argument("--publish", action="store_true", help="make these the figures of the docs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    (conversion,) = load_conversions(PROJECT / "conversions.yaml")
    inside = judged(in_engine(conversion))
    flags = ("--webhook-period=1s", f"--leader-election-namespace={PLACE}")
    with given_or_own(options.kubeconfig, PLACE) as kubeconfig:
        asyncio.run(prepare(kubeconfig))
        with running("stock", "default", kubeconfig, *flags, project=PROJECT):
            figures = inside + asyncio.run(from_outside(kubeconfig, options.requests))
    print(table(figures))
    if options.json:
        write_json(figures, options.json)
    if options.publish:
        CONVERSION.publish(figures)
    return int(bool(failed(figures)))


def judged(inside: list[Figure]) -> list[Figure]:
    """Each figure of the engine alone has the same limit."""
    return limited(inside, {each.name: PROMISED_MS for each in inside})


def in_engine(conversion: Conversion) -> list[Figure]:
    """Milliseconds for one object, with all that comes before and after in a request."""
    source = fleet(STORED, "x")
    old = conversion.convert(source, "v1alpha1")
    return [
        Figure("in the engine: one object, one step", "ms", review_ms(conversion, source, "v1", 1)),
        Figure("in the engine: one object, two steps", "ms", review_ms(conversion, old, "v1", 1)),
        Figure(
            f"in the engine: one of {MANY}, two steps", "ms", review_ms(conversion, old, "v1", MANY)
        ),
    ]


def review_ms(conversion: Conversion, source: Json, version: str, count: int) -> tuple[float, ...]:
    """For each object, of several reviews."""
    request = {"uid": "x", "desiredAPIVersion": f"{GROUP}/{version}", "objects": [source] * count}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    data = json.dumps({**kind, "request": request}).encode()
    seconds = []
    for _ in range(max(5, 200 // count)):
        began = time.perf_counter()
        answer_conversions([conversion], data)
        seconds.append(time.perf_counter() - began)
    return tuple(1000 * each / count for each in seconds)


def fleet(gvk: Gvk, name: str) -> Json:
    """At the stored version."""
    metadata = {"name": name, "namespace": PLACE}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": SPEC}


async def prepare(kubeconfig: Path) -> None:
    """The kind and its objects, before the first conversion."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await api.create(CRD, yaml.safe_load((PROJECT / "crd.yaml").read_text()))
        await api.create(NAMESPACE, {"metadata": {"name": PLACE}})
        await answered(api, path(STORED))
        for number in range(MANY):
            await api.create(STORED, fleet(STORED, f"many-{number}"))


async def from_outside(kubeconfig: Path, requests: int) -> list[Figure]:
    """Milliseconds of requests, as a client sees them."""
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as api:
        await answered(api, path(OLDER, "many-0"), '"size":3')
        figures = await alternating(api, requests, "GET, idle")
        async with loaded(api):
            name = "GET, 50 conversions a second beside it"
            figures += await alternating(api, requests, name)
        return figures + await alternating(api, 25, f"list of {MANY}", listed=True)


async def alternating(
    api: Client, requests: int, name: str, *, listed: bool = False
) -> list[Figure]:
    """One object, or the list, at each version, in batches."""
    found: dict[Gvk, list[float]] = {STORED: [], LATER: [], OLDER: []}
    for _ in range(5):
        for gvk in found:
            target = path(gvk) if listed else path(gvk, "many-0")
            found[gvk] += await times(api, target, requests // 5)
    return [
        Figure(f"{name}: {gvk.version}{stored(gvk)}", "ms", tuple(values))
        for gvk, values in found.items()
    ]


def stored(gvk: Gvk) -> str:
    """Which of them needs no conversion."""
    return ", stored" if gvk == STORED else ""


async def times(api: Client, target: str, count: int) -> tuple[float, ...]:
    """Milliseconds of so many requests, one after the other."""
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        await text(api, target)
        taken.append(1000 * (time.perf_counter() - began))
    return tuple(taken)


@contextlib.asynccontextmanager
async def loaded(api: Client) -> AsyncIterator[None]:
    """50 requests a second that need a conversion, while the context lasts."""

    async def ask() -> None:
        async with asyncio.TaskGroup() as tasks:
            while True:
                tasks.create_task(text(api, path(OLDER, "many-1")))
                await asyncio.sleep(PAUSE_S)

    asking = asyncio.create_task(ask())
    try:
        yield
    finally:
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking


async def answered(api: Client, target: str, wanted: str = "") -> None:
    """Wait until the API server answers so."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(SystemExit):
            if wanted in await text(api, target):
                return
        await asyncio.sleep(0.2)
    raise SystemExit(f"{target}: no answer")


async def text(api: Client, target: str) -> str:
    """One request; anything but success ends the bench."""
    async with api.request_raw("GET", target) as answer:
        said = await answer.text()
        if answer.status != 200:
            raise SystemExit(f"{target}: {answer.status} {said[:300]}")
        return said


def path(gvk: Gvk, name: str = "") -> str:
    """Of all, or of one."""
    return f"/apis/{gvk.api_version}/namespaces/{PLACE}/fleets/{name}".rstrip("/")


if __name__ == "__main__":
    sys.exit(main())
