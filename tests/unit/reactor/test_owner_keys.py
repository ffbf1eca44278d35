"""Who owns a dependent: references and annotations, as the contract maps them."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.reactor.owner_keys import Interest, keys_of
from rolecall.workqueue import Key
from tests.unit.reactor.objects import APP, metadata

CLUSTER_APP = Gvk("demo.example.com", "v1", "ClusterApp")
BY_REFERENCE = Interest(APP, owner_is_namespaced=True, by_annotation=False)
BY_ANNOTATION = Interest(APP, owner_is_namespaced=True, by_annotation=True)
SECRET = Gvk("", "v1", "Secret")


def reference(api_version: str, kind: str, name: str = "a") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": "whatever"}


def annotated(kind: str, value: str) -> dict[str, Any]:
    pair = {"operator-sdk/primary-resource-type": kind, "operator-sdk/primary-resource": value}
    return metadata(annotations=pair)


def test_all_references_of_the_group_and_kind_count_in_any_version() -> None:
    owned = metadata(
        ownerReferences=[
            reference("demo.example.com/v1", "App", "one"),
            reference("demo.example.com/v1beta1", "App", "two"),
            reference("other.example.com/v1", "App", "three"),
            reference("demo.example.com/v1", "Other", "four"),
        ]
    )
    assert list(keys_of(owned, [BY_REFERENCE])) == [
        Key(APP, "shop", "one"),
        Key(APP, "shop", "two"),
    ]


def test_owner_without_namespace_has_none() -> None:
    owned = metadata(ownerReferences=[reference("demo.example.com/v1", "ClusterApp")])
    interest = Interest(CLUSTER_APP, owner_is_namespaced=False, by_annotation=False)
    assert list(keys_of(owned, [interest])) == [Key(CLUSTER_APP, "", "a")]


def test_core_kinds_own_too() -> None:
    interest = Interest(SECRET, owner_is_namespaced=True, by_annotation=False)
    owned = metadata(ownerReferences=[reference("v1", "Secret", "s")])
    assert list(keys_of(owned, [interest])) == [Key(SECRET, "shop", "s")]


@pytest.mark.parametrize(
    ("kind", "value", "keys"),
    [
        ("App.demo.example.com", "elsewhere/a", [Key(APP, "elsewhere", "a")]),
        ("App.demo.example.com", "elsewhere/a/b", [Key(APP, "elsewhere", "a/b")]),
        ("App.demo.example.com", "a", [Key(APP, "", "a")]),
        ("App.demo.example.com", " ", []),
        ("App", "elsewhere/a", []),
        ("Other.demo.example.com", "elsewhere/a", []),
    ],
)
def test_annotations_name_the_owner(kind: str, value: str, keys: list[Key]) -> None:
    assert list(keys_of(annotated(kind, value), [BY_ANNOTATION])) == keys


def test_only_requested_ways_count() -> None:
    owned = metadata(ownerReferences=[reference("demo.example.com/v1", "App")])
    assert list(keys_of(owned, [BY_ANNOTATION])) == []
    assert list(keys_of(annotated("App.demo.example.com", "x/a"), [BY_REFERENCE])) == []
