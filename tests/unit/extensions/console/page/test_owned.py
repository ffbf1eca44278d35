"""What a CR owns, as it is now, for users who may see it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.unit.extensions.console.control.engine import key

from rolecall.extensions.console.page.health import health_of
from rolecall.extensions.console.page.owned import as_they_are
from rolecall.extensions.console.page.views import OwnedObject
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NotFoundError, Resource, Target, UnavailableError
from rolecall.record import ObjectPlace


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


def wanted(*names: str, plural: str = "configmaps") -> dict[ObjectPlace, str]:
    return {ObjectPlace("", "v1", plural, "shop", name): f"wrote {name}" for name in names}


async def shown(objects: Objects, wanted: dict[ObjectPlace, str]) -> list[OwnedObject]:
    cr: Json = {"metadata": {"uid": "mine"}}
    return await as_they_are(wanted, key("shop"), cr, cast(Client, objects))


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
    assert await seen(objects, "a", "b", "c") == ["c"]


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


@pytest.mark.parametrize(
    ("kind", "found", "word", "is_well"),
    [
        ("Deployment", {"spec": {"replicas": 2}, "status": {"readyReplicas": 2}}, "2 of 2", True),
        ("Deployment", {"spec": {"replicas": 2}, "status": {}}, "0 of 2 ready", False),
        ("StatefulSet", {"spec": {}, "status": {"readyReplicas": 1}}, "1 of 1 ready", True),
        ("Deployment", {"spec": {"replicas": 0}, "status": {}}, "0 of 0 ready", True),
        ("Pod", {"status": {"phase": "Running"}}, "Running", True),
        ("Pod", {"status": {"phase": "Failed"}}, "Failed", False),
        ("Job", {"status": {"succeeded": 1}}, "1 succeeded, 0 failed", True),
        ("Job", {"status": {"failed": 3}}, "0 succeeded, 3 failed", False),
        ("Shop", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "Ready", True),
        ("Shop", {"status": {"conditions": [{"type": "Ready"}]}}, "not Ready", False),
        ("ConfigMap", {}, "there", None),
        ("Pod", {"metadata": {"deletionTimestamp": "x"}}, "is being deleted", False),
    ],
)
def test_health_in_a_word_or_two(kind: str, found: Json, word: str, is_well: bool | None) -> None:
    reported, is_good = health_of(Gvk("", "v1", kind), found)
    assert word in reported and is_good is is_well
