"""What lies below an object, down to pods, for a reader who may list it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from rolecall.extensions.console.page.dependents import OwnedBelow, selector_text
from rolecall.extensions.console.page.views import OwnedObject
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, Page, Target, UnavailableError

DEPLOYMENT = Gvk("apps", "v1", "Deployment")


@dataclass
class Lists:
    """A client of these objects; an error stands for the answer to a list of a kind."""

    objects: list[Json] = field(default_factory=list)
    errors: dict[str, Exception] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    async def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]:
        assert not metadata_only
        self.asked.append((gvk.kind, namespace, label_selector))
        if gvk.kind in self.errors:
            raise self.errors[gvk.kind]
        items = [each for each in self.objects if each["kind"] == gvk.kind]
        for begin in range(0, len(items), 500):
            yield Page(items[begin : begin + 500], "1", "")


def made(kind: str, name: str, owner: Any, **fields: Any) -> Json:
    references = [{"uid": f"uid-{owner}"}] if isinstance(owner, str) else owner
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}"}
    spec = {"selector": {"matchLabels": {"app": name}}}
    return {"kind": kind, "metadata": {**metadata, "ownerReferences": references}} | {
        "spec": spec,
        **fields,
    }


def replica_set(name: str, owner: str, replicas: int = 1) -> Json:
    made_set = made("ReplicaSet", name, owner)
    return made_set | {"spec": {**made_set["spec"], "replicas": replicas}}


def pod(name: str, owner: Any, phase: str = "Running") -> Json:
    return made("Pod", name, owner, status={"phase": phase})


async def below(
    lists: Lists, root: Json, gvk: Gvk = DEPLOYMENT
) -> tuple[list[OwnedObject], list[str], list[str]]:
    dependents = OwnedBelow(cast(Client, lists), asyncio.Semaphore(4))
    found = await dependents.below(gvk, root)
    return list(found.objects), list(found.left_out), dependents.hidden


def names(objects: Any) -> Any:
    return {each.name: names(each.below) for each in objects}


async def test_deployment_leads_to_its_pods_by_uid_not_by_label() -> None:
    lists = Lists(
        [replica_set("r", "d"), replica_set("other", "else"), pod("p", "r"), pod("q", "x")]
    )
    objects, left_out, hidden = await below(lists, made("Deployment", "d", "cr"))
    assert names(objects) == {"r": {"p": {}}}
    assert (left_out, hidden) == ([], [])
    assert lists.asked == [("ReplicaSet", "shop", "app=d"), ("Pod", "shop", "app=r")]


async def test_replica_sets_without_pods_are_old_and_not_shown() -> None:
    lists = Lists([replica_set("new", "d", 2), replica_set("old", "d", 0)])
    assert names((await below(lists, made("Deployment", "d", "cr")))[0]) == {"new": {}}


async def test_cron_job_leads_over_its_newest_jobs_to_pods() -> None:
    jobs = [made("Job", f"j{number}", "c") for number in range(7)]
    for number, job in enumerate(jobs):
        job["metadata"]["creationTimestamp"] = f"2026-11-2{number}T12:00:00Z"
    lists = Lists([*jobs, pod("p", "j6", "Failed")])
    objects, left_out, _ = await below(
        lists, made("CronJob", "c", "cr"), Gvk("batch", "v1", "CronJob")
    )
    assert names(objects) == {"j2": {}, "j3": {}, "j4": {}, "j5": {}, "j6": {"p": {}}}
    assert left_out == ["2 older Jobs are not shown."]


async def test_of_a_thousand_pods_a_hundred_are_shown_and_the_ill_ones_first() -> None:
    pods = [pod(f"p{number:04}", "s") for number in range(1000)]
    pods[777]["status"]["phase"] = "Failed"
    lists = Lists(pods)
    objects, left_out, _ = await below(
        lists, made("StatefulSet", "s", "cr"), Gvk("apps", "v1", "StatefulSet")
    )
    assert len(objects) == 100 and objects[0].name == "p0777"
    assert left_out == ["900 more Pods are not shown, none of them unhealthy."]


async def test_all_together_are_bounded_and_so_is_what_is_looked_at() -> None:
    lists = Lists([pod(f"p{number}", f"s{number % 40}") for number in range(5000)])
    dependents = OwnedBelow(cast(Client, lists), asyncio.Semaphore(4))
    daemons = Gvk("apps", "v1", "DaemonSet")
    roots = [made("DaemonSet", f"s{number}", "cr") for number in range(40)]
    found = [await dependents.below(daemons, root) for root in roots]
    assert sum(len(each.objects) for each in found) == 300
    assert "Not all Pods in namespace shop are shown: there are too many." in dependents.hidden
    assert "Not everything below these objects is shown." in dependents.hidden


async def test_reader_who_may_not_list_pods_gets_one_line_without_names() -> None:
    lists = Lists([replica_set("r", "d"), pod("secret-name", "r")])
    lists.errors["Pod"] = ForbiddenError("secret-name", target=Target("list"))
    objects, left_out, hidden = await below(lists, made("Deployment", "d", "cr"))
    assert (names(objects), left_out) == ({"r": {}}, [])
    assert hidden == ["You may not list Pods in namespace shop, so they are not shown."]


async def test_list_that_fails_is_said() -> None:
    lists = Lists(errors={"ReplicaSet": UnavailableError("later")})
    _, _, hidden = await below(lists, made("Deployment", "d", "cr"))
    assert hidden == ["The ReplicaSets in namespace shop could not be read; reload the page."]


async def test_owner_references_in_a_circle_end() -> None:
    circle = [replica_set("d", "r"), replica_set("r", "d"), replica_set("self", "self")]
    lists = Lists([*circle, pod("p", "p"), pod("q", [{"uid": "uid-r"}, {"uid": "uid-d"}])])
    objects, _, _ = await below(lists, made("Deployment", "d", "cr"))
    assert names(objects) == {"r": {"q": {}}}


async def test_object_that_is_shown_by_itself_is_not_shown_again() -> None:
    lists = Lists([pod("p", "s"), pod("q", "s")])
    dependents = OwnedBelow(cast(Client, lists), asyncio.Semaphore(4))
    dependents.reserve(lists.objects[0])
    found = await dependents.below(Gvk("batch", "v1", "Job"), made("Job", "s", "cr"))
    assert names(found.objects) == {"q": {}}


@pytest.mark.parametrize("odd", [None, 5, "x", [], [5], {"a": 5}, [{"uid": []}], [["uid"]]])
async def test_odd_shapes_have_nothing_below(odd: Any) -> None:
    lists = Lists([{"kind": "ReplicaSet", "metadata": odd}, made("ReplicaSet", "r", odd)])
    for root in ({"metadata": odd, "spec": odd}, made("Deployment", "d", "cr", spec=odd)):
        assert (await below(lists, root))[0] == []


async def test_list_of_all_namespaces_is_never_asked_for() -> None:
    root = made("Deployment", "d", "cr")
    del root["metadata"]["namespace"]
    lists = Lists()
    assert (await below(lists, root), lists.asked) == (([], [], []), [])


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        ([{"endpoints": [{}, {}]}], "2 endpoints"),
        ([{"endpoints": None}], "no endpoints"),
        ([], None),
    ],
)
async def test_service_says_how_many_endpoints_it_has(
    slices: list[Json], words: str | None
) -> None:
    lists = Lists([{**made("EndpointSlice", "e", "x"), **each} for each in slices])
    service = made("Service", "web", "cr", spec={"selector": {"app": "web"}})
    dependents = OwnedBelow(cast(Client, lists), asyncio.Semaphore(4))
    health = (await dependents.below(Gvk("", "v1", "Service"), service)).health
    assert (health.words if health else None) == words
    assert lists.asked == [("EndpointSlice", "shop", "kubernetes.io/service-name=web")]


def test_selector_is_written_as_a_query_has_it() -> None:
    terms = [
        {"key": "tier", "operator": "In", "values": ["a", "b"]},
        {"key": "x", "operator": "DoesNotExist"},
        {"key": "y", "operator": "Exists"},
    ]
    selector = {"matchLabels": {"app": "web", "odd": 5}, "matchExpressions": terms}
    assert selector_text(selector) == "app=web,tier in (a,b),!x,y"
