"""How dependents are tied to their owner, and what is kept when they are written again."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.proxy.owners import (
    Additions,
    Tie,
    kept_by_apply,
    kept_by_replace,
    owner_additions,
    owner_patch,
    tie_for,
)
from tests.unit.proxy.crs import UID, owner

ANNOTATIONS = {
    "operator-sdk/primary-resource": "prod/shop",
    "operator-sdk/primary-resource-type": "App.demo.example.com",
}
REFERENCE = owner().reference()


@pytest.mark.parametrize(
    ("owner_namespace", "is_namespaced", "namespace", "tie"),
    [
        ("", True, "prod", Tie.REFERENCE),
        ("", False, "", Tie.REFERENCE),
        ("prod", False, "", Tie.ANNOTATIONS),
        ("prod", True, "prod", Tie.REFERENCE),
        ("prod", True, "other", Tie.ANNOTATIONS),
        ("prod", True, "", Tie.ANNOTATIONS),
    ],
)
def test_tie_is_what_kubernetes_allows(
    owner_namespace: str, is_namespaced: bool, namespace: str, tie: Tie
) -> None:
    found = tie_for(owner(owner_namespace), is_namespaced=is_namespaced, namespace=namespace)
    assert found is tie


def test_annotations_name_scope_and_kind() -> None:
    assert owner_additions({}, owner(), Tie.ANNOTATIONS) == Additions(annotations=ANNOTATIONS)
    clusterwide = owner_additions({}, owner(""), Tie.ANNOTATIONS).annotations
    assert clusterwide["operator-sdk/primary-resource"] == "shop"


def test_reference_has_no_flags() -> None:
    added = owner_additions({}, owner(), Tie.REFERENCE).references
    assert added == (
        {"apiVersion": "demo.example.com/v1", "kind": "App", "name": "shop", "uid": UID},
    )


@pytest.mark.parametrize("there", [REFERENCE, {**REFERENCE, "controller": True}, {"uid": UID}])
def test_owner_that_is_there_is_not_added_again(there: Json) -> None:
    assert not owner_additions({"ownerReferences": [there]}, owner(), Tie.REFERENCE)


def existing(references: list[Json], held_by: str = "play", **annotations: str) -> Json:
    fields: Json = {
        "f:ownerReferences": {f'k:{{"uid":"{row["uid"]}"}}': {} for row in references},
        "f:annotations": {f"f:{key}": {} for key in annotations},
    }
    entry = {"manager": held_by, "operation": "Apply", "fieldsV1": {"f:metadata": fields}}
    return {
        "ownerReferences": references,
        "annotations": annotations,
        "managedFields": [{"manager": "x", "operation": "Update"}, entry],
    }


def test_apply_says_again_what_its_manager_holds() -> None:
    found = existing([REFERENCE], **ANNOTATIONS)
    kept = kept_by_apply(found, {}, "play")
    assert kept == Additions(references=(REFERENCE,), annotations=ANNOTATIONS)


def test_apply_leaves_alone_what_another_manager_holds() -> None:
    assert not kept_by_apply(existing([REFERENCE], "other", **ANNOTATIONS), {}, "play")


def test_apply_may_give_up_references_that_we_did_not_write() -> None:
    assert not kept_by_apply(existing([{**REFERENCE, "controller": True}]), {}, "play")


def test_apply_that_names_the_owner_gets_it_once() -> None:
    applied = {"ownerReferences": [REFERENCE], "annotations": ANNOTATIONS}
    assert not kept_by_apply(existing([REFERENCE], **ANNOTATIONS), applied, "play")


def test_apply_keeps_the_owners_of_other_crs_too() -> None:
    stranger = {**REFERENCE, "uid": "another", "name": "another"}
    assert kept_by_apply(existing([stranger]), {}, "play").references == (stranger,)


@pytest.mark.parametrize("fields", [None, {}, {"f:metadata": None}, {"f:metadata": {}}])
def test_apply_to_an_object_without_held_fields_adds_nothing(fields: Any) -> None:
    found = existing([REFERENCE])
    found["managedFields"][1]["fieldsV1"] = fields
    assert not kept_by_apply(found, {}, "play")


def test_replace_keeps_owners_it_does_not_speak_of() -> None:
    found = existing([REFERENCE], **ANNOTATIONS)
    kept = kept_by_replace(found, {"annotations": {"a": "b"}})
    assert kept == Additions(references=(REFERENCE,), annotations=ANNOTATIONS)
    assert kept_by_replace(found, {"ownerReferences": []}).references == ()


SEEN = {"uid": "u-1", "resourceVersion": "7", "name": "made"}
AT = {"uid": "u-1", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("metadata", "tie", "written"),
    [
        (SEEN, Tie.REFERENCE, {**AT, "ownerReferences": [REFERENCE]}),
        (SEEN, Tie.ANNOTATIONS, {**AT, "annotations": ANNOTATIONS}),
        ({**SEEN, "ownerReferences": [REFERENCE]}, Tie.REFERENCE, AT),
    ],
)
def test_owner_patch_is_bound_to_the_version_that_was_seen(
    metadata: Json, tie: Tie, written: Json
) -> None:
    assert owner_patch(metadata, owner(), tie) == {"metadata": written}


def test_additions_are_something_where_either_is_there() -> None:
    assert Additions(references=(REFERENCE,))
    assert Additions(annotations=ANNOTATIONS)
    assert not Additions()


@pytest.mark.parametrize(
    "entry",
    [{"manager": "other"}, {"operation": "Update"}, {"subresource": "status"}],
    ids=["another manager", "an update", "its status"],
)
def test_only_what_an_apply_of_this_manager_holds_of_the_object_itself_is_kept(entry: Json) -> None:
    found = existing([REFERENCE], **ANNOTATIONS)
    found["managedFields"][1].update(entry)
    assert not kept_by_apply(found, {}, "play")


def test_apply_keeps_of_several_owners_and_annotations_those_that_are_held() -> None:
    stranger = {**REFERENCE, "uid": "another"}
    first, second = ANNOTATIONS
    found = existing([stranger], **{first: ANNOTATIONS[first]})
    found |= {"ownerReferences": [REFERENCE, stranger], "annotations": {**ANNOTATIONS, "a": "b"}}
    assert kept_by_apply(found, {}, "play") == Additions(
        references=(stranger,), annotations={first: ANNOTATIONS[first]}
    )
    assert kept_by_replace(found, {"annotations": {second: "said"}}) == Additions(
        references=(REFERENCE, stranger), annotations={first: ANNOTATIONS[first]}
    )
    assert kept_by_replace(found, {"ownerReferences": [{}]}) == Additions(annotations=ANNOTATIONS)


@pytest.mark.parametrize("keep", [kept_by_replace, partial(kept_by_apply, field_manager="play")])
def test_object_without_owners_gives_nothing_to_keep(keep: Any) -> None:
    for found in ({}, {"ownerReferences": None, "annotations": None, "managedFields": None}):
        assert keep(found, {}) == Additions()
