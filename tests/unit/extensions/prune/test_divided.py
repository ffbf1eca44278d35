"""Where replicas divide the CRs, what other CRs want is asked for anew before anything is deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rolecall.extensions.prune import Inventory, Prune, PrunePorts, Pruner
from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError, Target
from rolecall.reconcile import RunFindings
from rolecall.record import ObjectId, RecordedRequest, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.watches import Watch
from rolecall.workqueue import Key
from tests.fixtures.findings import findings_of
from tests.unit.extensions.prune.worlds import SHELF, asked, inventory, record, watch

KEY, OTHER = Key(SHELF, "a", "shelf"), Key(SHELF, "a", "other")
CR = {"metadata": {"name": "shelf", "namespace": "a", "uid": "cr", "generation": 1}}


@dataclass
class Stored:
    """What all replicas keep; a test writes into it as another replica would."""

    kept: dict[Key, Inventory] = field(default_factory=dict)

    async def load(self, key: Key) -> Inventory | None:
        return self.kept.get(key)

    async def save(self, key: Key, kept: Inventory) -> None:
        self.kept[key] = kept

    async def forget(self, key: Key) -> None:
        self.kept.pop(key, None)

    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]:
        return {key: each.shared for key, each in self.kept.items() if each.shared}


@dataclass
class Cluster:
    """The CR, and ConfigMaps that it owns."""

    objects: set[str]
    discovery: Any = None

    def __post_init__(self) -> None:
        self.discovery = SimpleNamespace(by_plural=self._kind_of)

    async def _kind_of(self, *_: str) -> object:
        return SimpleNamespace(gvk=Gvk("", "v1", "ConfigMap"), verbs=["delete"])

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Any:
        if gvk == SHELF:
            return CR
        if name not in self.objects:
            raise NotFoundError("gone", code=404, target=Target("get"))
        owner = {"apiVersion": SHELF.api_version, "kind": SHELF.kind, "name": "shelf", "uid": "cr"}
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
        return {"metadata": metadata | {"resourceVersion": "1", "ownerReferences": [owner]}}

    async def delete(self, _gvk: Gvk, _namespace: str, name: str, **_: str) -> None:
        self.objects.discard(name)


@dataclass(frozen=True)
class Run:
    record: RunRecord
    key: Key = KEY
    watch: Watch = field(default_factory=lambda: watch(Prune(good_runs=1)))
    cr: Any = field(default_factory=lambda: CR)
    is_finalizer: bool = False
    result: RunResult = field(default_factory=lambda: RunResult("1", Ending.FINISHED, 0))

    @property
    def findings(self) -> RunFindings:
        return findings_of(self.record)


def run_that_wants(*names: str) -> Run:
    requests: list[RecordedRequest] = [asked("create", name) for name in names]
    return Run(record(requests))


@pytest.mark.parametrize("is_divided", [True, False])
async def test_what_a_cr_of_another_replica_began_to_want_is_not_deleted(is_divided: bool) -> None:
    stored, cluster = Stored(), Cluster({"x", "y", "z"})
    ports = PrunePorts(SimpleNamespace(record=lambda *_, **__: None), is_divided=is_divided)
    pruner = Pruner(cast(Client, cluster), stored, ports)
    await pruner.run_ended(run_that_wants("x", "y", "z"))
    await pruner.run_ended(run_that_wants("x", "y"))
    assert cluster.objects == {"x", "y"}

    stored.kept[OTHER] = inventory(asked("patch", "x", is_owned=False))
    await pruner.run_ended(run_that_wants("y"))

    # One replica alone would have written that itself, and need not ask.
    assert cluster.objects == ({"x", "y"} if is_divided else {"y"})
    await asyncio.get_running_loop().shutdown_default_executor()  # reports are written in a thread
