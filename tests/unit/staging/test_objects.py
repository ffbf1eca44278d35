"""End states: equal where two runs did the same, else the difference is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError, Target
from rolecall_dev.staging import (
    NO_LEEWAY,
    Place,
    differences,
    end_state_of,
    leeway_between,
    raw_objects,
)

SITE = Gvk("shop.example.com", "v1", "Site")


def place(namespace: str) -> Place:
    return Place(SITE, namespace, "blog", (Gvk("", "v1", "ConfigMap"),))


def cr(uid: str, **status: Any) -> dict[str, Any]:
    metadata = {"name": "blog", "uid": uid, "resourceVersion": uid}
    return {"apiVersion": SITE.api_version, "kind": "Site", "metadata": metadata, "status": status}


def config_map(name: str, namespace: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def reported(*pairs: tuple[list[dict[str, Any]], str]) -> list[str]:
    states = [end_state_of(objects, place(namespace)) for objects, namespace in pairs]
    return [str(each) for each in differences(states[0], states[1])]


def test_same_work_in_two_namespaces_leaves_the_same() -> None:
    first = [
        cr("u-1", seen="2026-01-01T00:00:00Z"),
        config_map("a", "case-1", url="a.case-1", of="u-1"),
    ]
    second = [
        cr("u-2", seen="2026-02-02T00:00:00Z"),
        config_map("a", "case-2", url="a.case-2", of="u-2"),
    ]
    assert not reported((first, "case-1"), (second, "case-2"))


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        ("Reboot took 5 s", "Reboot took 10 s", True),
        ("done after 2m30s, at last", "done after 1m, at last", True),
        ("waited 1 min 2 s", "waited 3 min 10 s", True),
        ("5 s", "10 s", False),  # a setting that the status repeats
        ("3 of 3 pods run", "2 of 3 pods run", False),
        ("5 snapshots are there", "6 snapshots are there", False),
    ],
)
def test_duration_in_a_sentence_is_not_a_difference(
    one: str, other: str, *, is_alike: bool
) -> None:
    difference = reported(([cr("u", message=one)], "case-1"), ([cr("u", message=other)], "case-1"))
    assert (not difference) == is_alike


@pytest.mark.parametrize(("now", "is_alike"), [("False", True), ("True", False)])
def test_cr_that_did_not_converge_for_a_while_is_as_one_that_always_did(
    now: str, *, is_alike: bool
) -> None:
    ready = {"type": "Ready", "status": "True"}
    warned = {"type": "NotConverging", "status": now}
    difference = reported(
        ([cr("u", conditions=[ready])], "case-1"), ([cr("u", conditions=[warned, ready])], "case-1")
    )
    assert (not difference) == is_alike


def test_what_is_missing_and_what_is_too_much_is_named() -> None:
    assert reported(
        ([config_map("a", "case-1"), config_map("b", "case-1")], "case-1"),
        ([config_map("b", "case-1"), config_map("c", "case-1")], "case-1"),
    ) == ["ConfigMap/a: is missing", "ConfigMap/c: should not be there"]


def test_changed_leaf_is_named_with_both_values() -> None:
    assert reported(
        ([config_map("a", "case-1", k="1")], "case-1"),
        ([config_map("a", "case-1", k="2")], "case-1"),
    ) == ['ConfigMap/a .data.k: expected "1", found "2"']


def test_secret_is_compared_and_not_shown() -> None:
    secrets = [{**config_map("a", "case-1", k=value), "kind": "Secret"} for value in ("old", "new")]
    (line,) = reported(([secrets[0]], "case-1"), ([secrets[1]], "case-1"))
    assert "old" not in line
    assert "new" not in line


def test_second_object_of_a_generated_name_is_one_too_many() -> None:
    def made(name: str) -> dict[str, Any]:
        obj = config_map(name, "case-1")
        obj["metadata"]["generateName"] = "job-"
        return obj

    assert not reported(([made("job-a")], "case-1"), ([made("job-b")], "case-1"))
    assert reported(([made("job-a")], "case-1"), ([made("job-b"), made("job-c")], "case-1")) == [
        "ConfigMap/job-* (2): should not be there"
    ]


def test_what_two_undisturbed_runs_disagree_on_is_no_difference() -> None:
    first, second, third = (
        end_state_of([config_map("a", "case-1", password=value, kept="1")], place("case-1"))
        for value in ("x", "y", "z")
    )
    leeway = leeway_between(first, second)
    assert not differences(first, third, leeway)
    assert differences(first, third, NO_LEEWAY)


def test_names_that_end_at_random_are_learned() -> None:
    first = end_state_of([config_map("web-aaa", "case-1")], place("case-1"))
    second = end_state_of([config_map("web-bbb", "case-1")], place("case-1"))
    leeway = leeway_between(first, second)
    assert leeway.object_id("ConfigMap", "web-ccc") == "ConfigMap/web-*"


class Listing:
    """A client that has these ConfigMaps and no CR."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self._objects = list(objects)

    async def list_all(self, _: Gvk, __: str) -> list[dict[str, Any]]:
        return self._objects

    async def get(self, *_: object) -> dict[str, Any]:
        raise NotFoundError("is not there", target=Target("get"))


async def names_of_case(there: Place, *objects: dict[str, Any]) -> list[str]:
    found = await raw_objects(cast("Client", Listing(*objects)), there)
    return [obj["metadata"]["name"] for obj in found]


async def test_what_was_made_before_the_cr_is_nothing_that_it_leaves_behind() -> None:
    given, made = config_map("given", "case-1"), config_map("made", "case-1")
    there = replace(place("case-1"), known_before=frozenset({given["metadata"]["uid"]}))
    assert await names_of_case(there, given, made) == ["made"]


async def test_what_a_cr_beside_it_owns_is_not_its_own() -> None:
    owned, made = config_map("owned", "case-1"), config_map("made", "case-1")
    owned["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": "one"}]
    assert await names_of_case(place("case-1"), owned, made) == ["owned", "made"]
    beside = replace(place("case-1"), other_crs=frozenset({"Machine"}))
    assert await names_of_case(beside, owned, made) == ["made"]


def test_volume_that_the_api_server_names_at_random_is_no_difference() -> None:
    def pod(name: str) -> dict[str, Any]:
        return {**config_map("a", "case-1"), "kind": "Pod", "spec": {"volumes": [{"name": name}]}}

    names = ("kube-api-access-x7k2p", "kube-api-access-00000")
    assert not reported(([pod(names[0])], "case-1"), ([pod(names[1])], "case-1"))
    assert reported(([pod(names[0])], "case-1"), ([pod("kube-api-access-of-mine")], "case-1"))
