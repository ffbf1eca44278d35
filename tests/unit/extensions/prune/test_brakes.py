"""What slows pruning down: reports first, several good runs, a limit per run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rolecall.clock import Clock, SystemClock
from rolecall.extensions.prune import Prune, PrunePorts, Pruner
from rolecall.kube import Client, ConflictError, NoSuchKindError, Target, UnavailableError
from rolecall.runner import Ending, RunResult
from tests.unit.extensions.prune.test_divided import Cluster, Run, Stored
from tests.unit.extensions.prune.worlds import asked, record, watch


@pytest.fixture(autouse=True)
async def _no_threads() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()  # it looks at files


@dataclass
class World:
    """One CR, its objects, and what was posted."""

    prune: Prune
    cluster: Cluster
    posted: list[tuple[str, str]] = field(default_factory=list)
    stored: Stored = field(default_factory=Stored)
    keeps_engine: bool = False  # else each run is of one that was just started
    engine: Pruner | None = None
    clock: Clock = field(default_factory=SystemClock)
    asked_again: int = 0  # how often a run must follow, though nothing may change

    async def run(self, *names: str, ending: Ending = Ending.FINISHED) -> set[str]:
        """A run that wants these."""

        def post(_: Any, *, kind: str, reason: str, message: str) -> None:
            self.posted.append((f"{kind} {reason}", message))

        def run_again(_: object) -> None:
            self.asked_again += 1

        ports = PrunePorts(SimpleNamespace(record=post), run_again=run_again, clock=self.clock)
        requests = [asked("patch", name) for name in names]
        result = RunResult("1", ending, 0)
        ended = Run(record(requests), watch=watch(self.prune), result=result)
        engine = self.engine or Pruner(cast(Client, self.cluster), self.stored, ports)
        self.engine = engine if self.keeps_engine else None
        await engine.run_ended(ended)
        return self.cluster.objects


def world(prune: Prune, *names: str) -> World:
    return World(prune, Cluster(set(names)))


async def test_object_goes_after_two_good_runs_in_a_row() -> None:
    it = world(Prune(), "x", "y")
    await it.run("x", "y")
    assert await it.run("x") == {"x", "y"}
    assert it.asked_again == 1  # `skipUnchanged` must not skip the second one
    assert await it.run("x") == {"x"}
    assert it.asked_again == 1


@pytest.mark.parametrize("between", ["failed", "wanted"])
async def test_run_between_that_failed_or_wants_it_begins_anew(between: str) -> None:
    it = world(Prune(), "x", "y")
    await it.run("x", "y")
    await it.run("x")
    if between == "failed":
        await it.run("x", ending=Ending.KILLED)
    else:
        await it.run("x", "y")
    assert await it.run("x") == {"x", "y"}
    assert await it.run("x") == {"x"}


async def test_report_deletes_nothing_and_names_what_would_go() -> None:
    it = world(Prune(is_report=True), "x", "y")
    await it.run("x", "y")
    for _ in range(3):
        assert await it.run("x") == {"x", "y"}
    message = "No longer wanted; `prune: true` would delete: ConfigMap y"
    assert set(it.posted) == {("Normal PruneReport", message)}
    it.prune = Prune()
    assert await it.run("x") == {"x"}


async def test_run_that_would_delete_too_many_deletes_none_and_says_so() -> None:
    names = [f"n{number}" for number in range(10)]
    it = world(Prune(good_runs=1), *names)
    await it.run(*names)
    assert len(await it.run(*names[:6])) == 10
    ((reason, message),) = it.posted
    assert reason == "Warning PruneStopped"
    assert message.startswith("4 of 10 objects are no longer wanted, and none was deleted")
    it.prune = Prune(good_runs=1, limit_percent=40)
    assert len(await it.run(*names[:6])) == 6


async def test_three_may_always_go() -> None:
    it = world(Prune(good_runs=1), "x", "y", "z")
    await it.run("x", "y", "z")
    assert await it.run() == set()


@dataclass
class Hours(SystemClock):
    """A clock that is moved by hand."""

    hours: float = 0.0

    def monotonic(self) -> float:
        return self.hours * 3600


async def test_crs_of_a_watch_lose_no_more_than_the_fleet_limit_within_an_hour() -> None:
    clock, names = Hours(), [f"n{number}" for number in range(9)]
    it = world(Prune(good_runs=1, limit_percent=100, fleet_limit=5), *names)
    it.clock, it.keeps_engine = clock, True
    await it.run(*names)
    assert len(await it.run(*names[:6])) == 6
    clock.hours = 0.9
    assert len(await it.run(*names[:3])) == 6  # three more would be six
    ((reason, message),) = [each for each in it.posted if each[0] != "Normal Pruned"]
    assert reason == "Warning PruneStopped"
    assert message == (
        "3 objects are no longer wanted, and none was deleted: `prune` allows 5 for all objects of kind"
        " Shelf within an hour, and 3 were deleted; raise `prune.fleetLimit` in watches.yaml if this is"
        " right"
    )
    assert it.asked_again == 1  # `skipUnchanged` must not skip the run that deletes them
    assert len(await it.run(*names[:4])) == 4  # two are not too many
    clock.hours = 1.0
    assert len(await it.run(*names[:1])) == 1


@pytest.mark.parametrize("how", ["off", "reports", "refused", "restarted"])
async def test_fleet_limit_counts_what_was_deleted_by_this_engine(how: str) -> None:
    names = [f"n{number}" for number in range(6)]
    limit = 0 if how == "off" else 3
    prune = Prune(good_runs=1, limit_percent=100, fleet_limit=limit)
    it = world(prune, *names)
    it.clock, it.keeps_engine = Hours(), True
    await it.run(*names)
    if how == "reports":
        it.prune = replace(prune, is_report=True)
        await it.run(*names[:3])
        it.prune = prune
    if how == "refused":
        delete, it.cluster.delete = it.cluster.delete, refused  # type: ignore[method-assign]
        assert len(await it.run(*names[:3])) == 6
        it.cluster.delete = delete  # type: ignore[method-assign]
    assert len(await it.run(*names[:3])) == 3
    if how == "restarted":
        it.engine = None
    left = {"off": 0, "restarted": 0}.get(how, 3)
    assert len(await it.run()) == left


async def refused(*_: Any, **__: Any) -> None:
    raise UnavailableError("down")


async def test_object_whose_kind_is_not_served_for_a_moment_is_not_forgotten() -> None:
    it = world(Prune(good_runs=1), "x", "y")
    await it.run("x", "y")
    served = it.cluster.get

    async def not_served(gvk: Any, namespace: str, name: str) -> Any:
        if gvk.kind == "ConfigMap":
            raise NoSuchKindError(gvk)
        return await served(gvk, namespace, name)

    it.cluster.get = not_served  # type: ignore[method-assign]
    assert await it.run("x") == {"x", "y"}
    it.cluster.get = served  # type: ignore[method-assign]
    assert await it.run("x") == {"x"}


async def test_object_that_is_written_or_made_anew_meanwhile_stays() -> None:
    """Each deletion is bound to the version that was read, so that a later write wins."""
    it = world(Prune(good_runs=1), "x", "y")
    await it.run("x", "y")
    asked_for: list[tuple[str, dict[str, str]]] = []

    async def written_meanwhile(_gvk: Any, _namespace: str, name: str, **bound: str) -> None:
        asked_for.append((name, bound))
        raise ConflictError("it is another one", code=409, target=Target("delete"))

    delete, it.cluster.delete = it.cluster.delete, written_meanwhile  # type: ignore[method-assign]
    assert await it.run("x") == {"x", "y"}
    ((name, bound),) = asked_for
    assert (name, bound["uid"], bound["version"]) == ("y", "uid-y", "1")
    assert it.asked_again == 1
    it.cluster.delete = delete  # type: ignore[method-assign]
    assert await it.run("x") == {"x"}
