"""How dependents are tied to their owner, and what is kept when they are written again."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.proxy.owners import (
    Additions,
    Tie,
    kept_by_apply,
    kept_by_replace,
    owner_additions,
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
