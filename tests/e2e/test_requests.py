"""What a run costs the API server when there is nothing to do, for each of our kinds.

Most runs are of this sort: a period, a dependent's status, a restart. Counted at the proxy, so that
what modules ask for besides their task (discovery) counts, too, whether or not a cache answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import ROOT, EngineProcess
from tests.e2e.own.cases import CASES
from tests.e2e.own.world import OPERATION, create, create_sample, make, wait_reason
from tests.e2e.test_looked_into import engine_of
from tests.fixtures.eventually import eventually

# The most that a run without work may ask for. Lower one when a role gets by with less; docs/kinds has
# the same figures, and what they were.
MOST = {
    "DemoVolume": 3,
    "Appoperator": 4,
    "Mapping": 4,
    "PodSet": 3,
    "Machine": 4,
    "MachineOperation": 0,
    "EtcdCluster": 13,
}
_AT_WORK = ("running", "waiting")


def asked(record: Path) -> list[Json]:
    """What plays asked for since the engine started."""
    return [json.loads(line) for line in record.read_text().splitlines()]


def words_of(row: Json) -> str:
    """One request, as a person reads it."""
    if "path" in row:
        return f"{row['verb']} {row['path']}"
    resource = "/".join(filter(None, (row["resource"], row["subresource"])))
    return f"{row['verb']} {resource}"


def one_run(
    engine: EngineProcess, gvk: Gvk, name: str, namespace: str, record: Path
) -> Counter[str]:
    """What a run asks for that was started while the kind was at rest: twice the same."""
    seen: list[Counter[str] | None] = [None]

    def is_same_again() -> bool:
        seen.append(since_asked(engine, gvk, name, namespace, record))
        assert seen[-1] is not None, f"{gvk.kind} ran twice while it was asked for once"
        assert seen[-1] == seen[-2], f"{gvk.kind} asked for {seen[-2]}, and then for {seen[-1]}"
        return True

    eventually(is_same_again)
    return seen[-1] or Counter()


@pytest.fixture
def engine(start_engine: StartEngine, cluster: Cluster, tmp_path: Path) -> Iterator[EngineProcess]:
    # An engine of another test may have written where it was reached.
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    started = start_engine(ROOT, "--proxy-record", str(tmp_path / "record"))
    yield started.wait_ready()


def since_asked(
    engine: EngineProcess, gvk: Gvk, name: str, namespace: str, record: Path
) -> Counter[str] | None:
    """What its plays asked for until one run had ended; nothing where that were two.

    It rests before: a run in flight would end in its place, and so on with each try that follows.
    """

    def has_rest() -> bool:
        crs = engine_of(engine).state()["crs"]
        return not any(cr["kind"] == gvk.kind and cr["state"] in _AT_WORK for cr in crs)

    eventually(has_rest)
    ended, already = engine.runs(gvk.kind), len(asked(record))
    engine_of(engine).reconcile({"kind": gvk.kind, "namespace": namespace, "name": name})
    eventually(lambda: engine.runs(gvk.kind) > ended and has_rest())
    rows = [row for row in asked(record)[already:] if row["for"] == str(gvk)]
    return Counter(map(words_of, rows)) if engine.runs(gvk.kind) == ended + 1 else None


async def settle(api: Client, namespace: str) -> None:
    """The samples of all kinds, with nothing left to do."""
    for case in CASES:
        await create_sample(api, case, namespace)
    spec = {"machine": "machine-sample", "type": "Reboot"}
    await create(api, [make(OPERATION, namespace, "reboot", spec)])
    await wait_reason(api, OPERATION, namespace, "reboot", "Succeeded")


@pytest.mark.nightly
async def test_run_without_work_asks_for_no_more_than_it_may(
    api: Client, namespace: str, engine: EngineProcess, tmp_path: Path
) -> None:
    await settle(api, namespace)
    all_crs = [*((case.gvk, case.name) for case in CASES), (OPERATION, "reboot")]
    assert {gvk.kind for gvk, _name in all_crs} == set(MOST)
    for gvk, name in all_crs:
        found = one_run(engine, gvk, name, namespace, tmp_path / "record")
        asked_for = ", ".join(f"{count} x {what}" for what, count in sorted(found.items()))
        print(f"{gvk.kind}: {found.total()} requests: {asked_for}")
        most = MOST[gvk.kind]
        assert found.total() <= most, f"{gvk.kind} may ask for {most}, asked for {asked_for}"
