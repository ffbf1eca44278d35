"""What a CR owns, as it is now, for users who may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.extensions.console.control.engine import NOON, key

from rolecall.extensions.console.page.owned import AskedObject, asked_for, tree_of
from rolecall.extensions.console.page.views import OwnedObject, OwnedTree
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NotFoundError, Resource, Target, UnavailableError
from rolecall.record import ObjectPlace, RecordedRequest, RecordedTask, RunRecord, write_record


def body(uid: str = "mine", **fields: Any) -> Json:
    return {"metadata": {"ownerReferences": [{"uid": "else"}, {"uid": uid}]}, **fields}


class Objects:
    """A client of some ConfigMaps; an error stands for what is answered instead."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self.discovery = self
        self.asked: list[str] = []

    async def by_plural(self, group: str, version: str, plural: str) -> Resource | None:
        if plural == "unknowns":
            return None
        return Resource(Gvk(group, version, "ConfigMap"), plural, namespaced=True)

    async def get(self, _gvk: Gvk, _namespace: str, name: str) -> Json:
        self.asked.append(name)
        found = self._found[name]
        if isinstance(found, Exception):
            raise found
        return cast(Json, found)


def wanted(*names: str, plural: str = "configmaps") -> list[AskedObject]:
    return [
        AskedObject(ObjectPlace("", "v1", plural, "shop", name), f"wrote {name}") for name in names
    ]


async def tree(
    objects: Objects, wanted: Sequence[AskedObject], runs: Sequence[KeptRun] = ()
) -> OwnedTree:
    cr: Json = {"metadata": {"uid": "mine"}}
    return await tree_of(wanted, runs, key("shop"), cr, cast(Client, objects))


async def shown(objects: Objects, wanted: list[AskedObject]) -> Sequence[OwnedObject]:
    return (await tree(objects, wanted)).objects


async def seen(objects: Objects, *names: str) -> list[str]:
    return [each.name for each in await shown(objects, wanted(*names))]


async def test_only_what_the_object_owns_is_shown() -> None:
    orphan: Json = {"metadata": {}}
    objects = Objects({"a": body(), "b": body("other"), "c": orphan})
    assert await seen(objects, "a", "b", "c") == ["a"]


@pytest.mark.parametrize("odd", ["x", 1, ["x"], [1], {"uid": "mine"}, [["uid", "mine"]], None])
async def test_owners_of_an_odd_shape_own_nothing(odd: Any) -> None:
    objects = Objects(
        {
            "a": {"metadata": {"ownerReferences": odd, "annotations": odd}},
            "b": {"metadata": odd},
            "c": body(),
        }
    )
    assert await seen(objects, "a", "b", "c") == ["c"]


async def test_what_the_reader_may_not_get_is_not_named() -> None:
    refused = ForbiddenError("no", target=Target("get"))
    objects = Objects({"a": refused, "b": UnavailableError("later"), "c": body()})
    found = await tree(objects, wanted("a", "b", "c"))
    assert [each.name for each in found.objects] == ["c"]
    assert len(found.hidden) == 2 and "you may not read them" in " ".join(found.hidden)


async def test_deleted_object_is_reported_with_the_task_that_wrote_it() -> None:
    objects = Objects({"a": NotFoundError("gone", target=Target("get"))})
    (gone,) = await shown(objects, wanted("a"))
    assert (gone.name, gone.is_gone, gone.task) == ("a", True, "wrote a")


async def test_kind_that_is_served_no_more_is_left_out() -> None:
    objects = Objects({})
    found = await shown(objects, wanted("a", plural="unknowns"))
    assert (found, objects.asked) == ([], [])


async def test_no_more_than_a_hundred_are_asked_about() -> None:
    names = [f"n{number}" for number in range(120)]
    objects = Objects({name: body() for name in names})
    assert len(await seen(objects, *names)) == 100
    assert objects.asked == names[:100]


def kept(folder: Path, name: str, *tasks: RecordedTask, **objects: int) -> KeptRun:
    """A good run, each of whose objects was asked for by the task with this number."""
    (folder / name).mkdir()
    requests = tuple(
        RecordedRequest(
            n, 0.0, 0.1, "patch", "", "v1", "configmaps", "", "shop", each, 200, task=task
        )
        for n, (each, task) in enumerate(objects.items())
    )
    write_record(folder / name, RunRecord(name, NOON, 0.0, tasks, requests, 1.0))
    return KeptRun(name, outcome="succeeded", folder=folder / name)


def task(name: str, outcome: str = "ok", **more: Any) -> RecordedTask:
    place = f"roles/web/tasks/{name}.yml:3"
    return RecordedTask(name, name, place, "kubernetes.core.k8s", 0.0, 1.0, outcome, **more)


def asked(*runs: KeptRun) -> dict[str, AskedObject]:
    return {each.place.name: each for each in asked_for(runs)}


def test_object_whose_task_is_gone_is_an_orphan_with_its_old_place_and_run(tmp_path: Path) -> None:
    old = kept(tmp_path, "1", task("web"), task("mail"), a=0, b=1)
    new = kept(tmp_path, "2", task("web"), a=0)
    orphan = asked(new, old)["b"]
    assert (orphan.is_orphan, orphan.run, orphan.task) == (True, "1", "roles/web/tasks/mail.yml:3")
    assert orphan.why_not == "the task that made it is gone"
    assert not asked(new, old)["a"].is_orphan


def test_object_that_a_shorter_loop_left_behind_is_an_orphan_whose_task_is_there(
    tmp_path: Path,
) -> None:
    old = kept(tmp_path, "1", task("web"), a=0, b=0)
    new = kept(tmp_path, "2", task("web"), a=0)
    assert asked(new, old)["b"].why_not == "the task that made it no longer requests it"


@pytest.mark.parametrize(
    "skipped", [task("mail", "skipped", left_out=True), task("x", left_out=True, includes="y=z")]
)
def test_object_of_a_skipped_task_is_not_an_orphan(tmp_path: Path, skipped: RecordedTask) -> None:
    old = kept(tmp_path, "1", task("web"), task("mail"), a=0, b=1)
    found = asked(kept(tmp_path, "2", task("web"), skipped, a=0), old)["b"]
    assert (found.is_orphan, found.why_not) == (False, "its task was skipped in the last good run")


@pytest.mark.parametrize("change", [{"outcome": "failed"}, {"is_finalizer": True}])
def test_run_that_is_not_whole_makes_no_orphans(tmp_path: Path, change: dict[str, Any]) -> None:
    old = kept(tmp_path, "1", task("web"), task("mail"), a=0, b=1)
    new = replace(kept(tmp_path, "2", task("web"), a=0), **change)
    assert not asked(new, old)["b"].is_orphan


async def test_orphan_has_what_pruning_says_of_it_and_is_silent_once_it_is_gone() -> None:
    gone = NotFoundError("gone", target=Target("get"))
    objects = Objects({"a": body(), "b": body(), "c": gone})
    orphans = [replace(each, is_orphan=True, why_not="x") for each in wanted("a", "b", "c")]
    kept = [{"object": "ConfigMap a", "why": "annotated"}, 5]
    pruned = {"kept": kept, "reported": ["ConfigMap shop/b"], "held": "a list was refused"}
    runs = [KeptRun("2", outcome="failed"), KeptRun("1", outcome="succeeded", pruned=pruned)]
    found = await tree(objects, orphans, runs)
    assert [(each.name, each.pruning) for each in found.objects] == [
        ("a", "pruning keeps it: annotated"),
        ("b", "`prune: true` would delete it"),
    ]
    assert found.pruning == ["Nothing was pruned: a list was refused"]


@pytest.mark.parametrize("odd", [None, 5, "x", [5], {"x": 1}, [None, {"object": []}]])
async def test_report_of_pruning_of_an_odd_shape_is_no_harm(odd: Any) -> None:
    pruned = dict.fromkeys(("kept", "reported", "deleted", "refused", "held", "stopped"), odd)
    orphans = [replace(each, is_orphan=True) for each in wanted("a")]
    run = KeptRun("1", outcome="succeeded", pruned=pruned)
    (found,) = (await tree(Objects({"a": body()}), orphans, [run])).objects
    assert isinstance(found.pruning, str)
