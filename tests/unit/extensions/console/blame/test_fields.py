"""The fields of an object, with the managers that own each."""

from __future__ import annotations

from tests.unit.extensions.console.blame.test_verdict import managed

from rolecall.extensions.console.blame import CrName, crs_behind, live_fields_of
from rolecall.json_object import Json


def owners(document: Json) -> dict[str, list[str]]:
    found = {
        each.path: [owner.manager for owner in each.owners] for each in live_fields_of(document)
    }
    return {path: names for path, names in found.items() if names}


def test_owners_are_found_by_key_value_and_place() -> None:
    elements: Json = {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    fields = {"f:ports": elements, "f:set": {'v:"b"': {}}, "f:list": {"i:1": {}}, "f:odd": {}}
    document = {
        "apiVersion": "v1",
        "kind": "X",
        "metadata": {"name": "x", "managedFields": [managed("me", 1, {"f:spec": fields})]},
        "spec": {
            "ports": [
                {"containerPort": 81, "protocol": "TCP"},
                {"containerPort": 80, "protocol": "TCP"},
            ],
            "set": ["a", "b"],
            "list": ["c", "d"],
            "odd": {"deep": {"whole": 1}},
            "other": 1,
        },
    }
    assert owners(document) == {
        ".spec.ports[1].containerPort": ["me"],
        ".spec.set[1]": ["me"],
        ".spec.list[1]": ["me"],
        ".spec.odd.deep.whole": ["me"],
    }


def test_invalid_managed_fields_have_no_writer() -> None:
    entries = ["x", {"manager": 1, "fieldsV1": {"f:data": {"k:{": {}}}, "time": "soon"}, {}]
    metadata = {"name": "x", "managedFields": entries}
    document = {"apiVersion": "v1", "kind": "X", "metadata": metadata, "data": ["a"]}
    assert owners(document) == {}


def test_values_of_secrets_are_masked() -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": '{"data": "aHVudGVyMg=="}'}
    metadata = {"name": "x", "annotations": applied, "labels": {"a": "b"}}
    document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "data": {"key": "aHVudGVyMg=="},
        "stringData": {"key": "hunter2"},
    }
    values = {each.path: each.value for each in live_fields_of(document)}
    assert "hunter2" not in str(values)
    assert "aHVudGVyMg" not in str(values)
    assert values[".metadata.labels.a"] == "b"


def test_paths_match_by_each_name_of_a_step() -> None:
    document = {"apiVersion": "v1", "kind": "X", "spec": {"c": [{"name": "web", "80": 1}]}}
    field = next(each for each in live_fields_of(document) if each.value == 1)
    assert field.path == '.spec.c[name="web"]["80"]'
    assert field.is_below((".spec", ".c", "[0]"))
    assert field.is_below((".spec", ".c", '[name="web"]', "[80]"))
    assert not field.is_below((".spec", ".c", '[name="other"]'))


def test_crs_behind_an_object_are_itself_and_its_owners() -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Website", "name": "shop", "uid": "u"}
    annotations = {
        "operator-sdk/primary-resource": "other/shop",
        "operator-sdk/primary-resource-type": "Cache.example.com",
    }
    metadata = {
        "name": "web",
        "namespace": "a",
        "ownerReferences": [reference],
        "annotations": annotations,
    }
    assert crs_behind({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}) == [
        CrName("Deployment", "apps", "a", "web"),
        CrName("Website", "example.com", "a", "shop"),
        CrName("Cache", "example.com", "other", "shop"),
    ]
