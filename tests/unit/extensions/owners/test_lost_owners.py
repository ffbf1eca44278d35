"""Which objects get their owner back when a run is over, and which are left as they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rolecall.clock import SystemClock
from rolecall.errors import NotLeadingError
from rolecall.extensions.owners.lost_owners import LostOwners
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, write_run
from rolecall.json_object import Json
from rolecall.kube import Client, ConflictError, NotFoundError, Resource, Target
from rolecall.proxy import Owner
from rolecall.reconcile import EndedRun, RunFindings
from rolecall.record import MOST_LEAVES, RecordedRequest, RequestsSoFar, RunRecord, write_record
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Key
from tests.fixtures.findings import Published
from tests.unit.extensions.prune.worlds import INFO, SHELF, asked, looked, record, watch

KEY = Key(SHELF, "a", "shelf")
OWNER = Owner(SHELF, "a", "shelf", "cr")
CONFIG_MAP = Resource(Gvk("", "v1", "ConfigMap"), plural="configmaps", namespaced=True)
MADE = asked("create", "made")
UNOWNED = looked("made", is_owned=False)


@pytest.fixture(autouse=True)
async def _files_were_read() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@dataclass
class Cluster:
    """The CR and one object; patches are kept."""

    cr: Json = field(default_factory=lambda: {"name": "shelf", "namespace": "a", "uid": "cr"})
    made: Json = field(default_factory=lambda: {"uid": "uid-made"})
    patches: list[Json] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    own_writes: list[tuple[str, str]] = field(default_factory=list)
    refuses: Exception | None = None
    discovery: Any = None

    def __post_init__(self) -> None:
        self.discovery = SimpleNamespace(by_plural=self._find)
        self.made = {"name": "made", "namespace": "a", "resourceVersion": "5"} | self.made

    async def _find(self, *_: str) -> Resource:
        return CONFIG_MAP

    async def get(self, gvk: Gvk, _namespace: str, _name: str) -> Json:
        return {"metadata": self.cr if gvk == SHELF else self.made}

    async def merge_patch(self, _gvk: Gvk, _namespace: str, _name: str, patch: Json) -> Json:
        if self.refuses is not None:
            raise self.refuses
        self.patches.append(patch["metadata"])
        return {"metadata": self.made | {"resourceVersion": "6"}}

    def record(self, _cr: Json, *, kind: str, reason: str, message: str) -> None:
        self.events.append(f"{kind} {reason}: {message}")


@dataclass
class Notes:
    """Of a run that asked for this."""

    requests: tuple[RecordedRequest, ...]

    def unowned(self) -> set[str]:
        return {each.uid for each in self.requests if each.uid and not each.is_owned}

    def record(self) -> RunRecord:
        return record(self.requests)


def ran(*requests: RecordedRequest, is_finalizer: bool = False) -> EndedRun:
    metadata = {"name": "shelf", "namespace": "a", "uid": "cr"}
    cr = {"apiVersion": SHELF.api_version, "kind": SHELF.kind, "metadata": metadata}
    result = RunResult("2", Ending.FINISHED, 0)
    notes = Notes(requests)
    findings = RunFindings(Published({RunRecord: notes.record(), RequestsSoFar: notes}))
    return EndedRun(KEY, watch(), cr, cr, is_finalizer, result, findings)


def keep(
    root: Path,
    *requests: RecordedRequest,
    run: str = "1",
    uid: str = "cr",
    outcome: str = "succeeded",
    minutes_ago: int = 10,
) -> None:
    """An earlier run of a CR with that name; one that was cut off has no record."""
    folder = root / "demo.example.com" / "v1" / "Shelf" / "a" / "shelf" / "artifacts" / run
    folder.mkdir(parents=True)
    began = SystemClock().now() - timedelta(minutes=minutes_ago)
    write_run(KeptRun(run, uid=uid, began=began, outcome=outcome, folder=folder))
    if outcome != "lost":
        write_record(folder, record(requests))


def owners(cluster: Cluster, root: Path) -> LostOwners:
    note = lambda uid, version: cluster.own_writes.append((uid, version))  # noqa: E731
    return LostOwners(cast("Client", cluster), root, cluster, note)


@pytest.mark.parametrize(
    "seen",
    [
        UNOWNED,
        asked("patch", "made", is_owned=False, leaves=(".data.x",)),
        looked("made", INFO, is_owned=False),
    ],
)
async def test_what_the_cr_owned_once_and_a_run_asks_for_is_owned_again(
    tmp_path: Path, seen: RecordedRequest
) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE)
    await owners(cluster, tmp_path).run_ended(ran(seen))
    assert cluster.patches == [
        {"uid": "uid-made", "resourceVersion": "5", "ownerReferences": [OWNER.reference()]}
    ]
    assert cluster.own_writes == [("uid-made", "6")]
    (event,) = cluster.events
    assert event.startswith("Normal OwnerRestored: ")
    assert "ConfigMap made" in event


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(looked("made"), id="owned all the time"),
        pytest.param(replace(UNOWNED, uid="another"), id="another object of that name"),
        pytest.param(
            asked("patch", "made", is_owned=False, leaves=(".metadata.ownerReferences",)),
            id="given up by this run",
        ),
    ],
)
async def test_run_that_met_nothing_that_was_lost_writes_nothing(
    tmp_path: Path, seen: RecordedRequest
) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE)
    await owners(cluster, tmp_path).run_ended(ran(seen))
    assert (cluster.patches, cluster.events) == ([], [])


async def test_object_that_was_there_before_the_role_wrote_it_is_not_taken(tmp_path: Path) -> None:
    cluster = Cluster()
    keep(tmp_path, UNOWNED)
    lost = owners(cluster, tmp_path)
    await lost.run_ended(ran(UNOWNED))
    assert cluster.patches == []
    assert not await lost.was_owned(OWNER, "uid-made")


async def test_object_that_was_adopted_late_is_owned_again_when_its_owner_was_taken_away(
    tmp_path: Path,
) -> None:
    cluster = Cluster()
    keep(tmp_path, UNOWNED, run="1", minutes_ago=30)
    lost = owners(cluster, tmp_path)
    await lost.run_ended(ran(UNOWNED))
    keep(tmp_path, looked("made"), run="2", minutes_ago=20)
    await lost.run_ended(ran(looked("made")))
    assert cluster.patches == []

    await lost.run_ended(ran(UNOWNED))

    assert len(cluster.patches) == 1


async def test_object_that_an_earlier_run_gave_up_is_not_taken_back(tmp_path: Path) -> None:
    cluster = Cluster()
    given_up = asked("update", "made", is_owned=False, leaves=(".metadata.ownerReferences",))
    keep(tmp_path, MADE, given_up)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


async def test_object_of_an_earlier_cr_with_the_same_name_is_not_taken(tmp_path: Path) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE, uid="the one before")
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


@pytest.mark.parametrize(
    "made",
    [
        pytest.param({"uid": "another"}, id="made anew by a user"),
        pytest.param({"uid": "uid-made", "deletionTimestamp": "now"}, id="on its way out"),
        pytest.param({"uid": "uid-made", "ownerReferences": [{"uid": "x"}]}, id="of another"),
        pytest.param(
            {"uid": "uid-made", "annotations": {"operator-sdk/primary-resource": "b/x"}},
            id="of another by annotation",
        ),
    ],
)
async def test_object_that_is_not_free_any_more_is_left_as_it_is(
    tmp_path: Path, made: Json
) -> None:
    cluster = Cluster(made=made)
    keep(tmp_path, MADE)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


@pytest.mark.parametrize("now", [{"deletionTimestamp": "now"}, {"uid": "another"}])
async def test_objects_of_a_cr_that_was_deleted_during_the_run_keep_no_owner(
    tmp_path: Path, now: Json
) -> None:
    cluster = Cluster(cr={"uid": "cr"} | now)
    keep(tmp_path, MADE)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


async def test_finalizer_run_gives_nothing_an_owner(tmp_path: Path) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED, is_finalizer=True))
    assert cluster.patches == []


@pytest.mark.parametrize("failure", [ConflictError, NotFoundError])
async def test_write_of_a_faster_client_stays_and_the_next_run_looks_again(
    tmp_path: Path, failure: type[ConflictError]
) -> None:
    cluster = Cluster(refuses=failure("no", code=409, target=Target("patch")))
    keep(tmp_path, MADE)
    lost = owners(cluster, tmp_path)
    await lost.run_ended(ran(UNOWNED))
    assert cluster.events == []
    cluster.refuses = None
    await lost.run_ended(ran(UNOWNED))
    assert len(cluster.patches) == 1


async def test_replica_that_may_not_write_any_more_says_so(tmp_path: Path) -> None:
    cluster = Cluster(refuses=NotLeadingError("patch"))
    keep(tmp_path, MADE)
    with pytest.raises(NotLeadingError):
        await owners(cluster, tmp_path).run_ended(ran(UNOWNED))


async def test_what_a_run_that_was_cut_off_may_have_given_up_is_not_taken_back(
    tmp_path: Path,
) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE)
    keep(tmp_path, run="2", outcome="lost", minutes_ago=5)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


@pytest.mark.parametrize(
    "written",
    [
        asked("patch", "made", is_owned=False, leaves=()),
        asked("update", "made", is_owned=False, leaves=(".a",) * MOST_LEAVES),
        asked("patch", "made", is_owned=False, code=0, uid=""),
    ],
    ids=["not read", "too long to know", "without an answer"],
)
async def test_what_an_earlier_write_may_have_given_up_is_not_taken_back(
    tmp_path: Path, written: RecordedRequest
) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE, run="1")
    keep(tmp_path, written, run="2", minutes_ago=5)
    await owners(cluster, tmp_path).run_ended(ran(UNOWNED))
    assert cluster.patches == []


async def test_run_in_flight_is_asked_nothing(tmp_path: Path) -> None:
    cluster = Cluster()
    keep(tmp_path, MADE)
    keep(tmp_path, run="2", outcome="running", minutes_ago=0)
    assert await owners(cluster, tmp_path).was_owned(OWNER, "uid-made")
