"""What of two states of an object differs, for people, and what is never shown."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.plan.differences import NOT_THERE, FieldDifference, differences_of


def made(kind: str, metadata: Json | None = None, **fields: object) -> Json:
    return {
        "kind": kind,
        "apiVersion": "v1",
        "metadata": {"name": "x", **(metadata or {})},
    } | fields


def test_what_the_server_counts_up_is_no_difference() -> None:
    before = made("ConfigMap", {"resourceVersion": "1", "uid": "a", "generation": 1}, status=1)
    after = made("ConfigMap", {"resourceVersion": "2", "managedFields": [1]}, status=2)
    assert differences_of(before, after) == []


def test_elements_with_names_are_held_against_each_other_by_name() -> None:
    before = made("Pod", spec={"c": [{"name": "a", "i": 1}, {"name": "b", "i": 2}]})
    after = made("Pod", spec={"c": [{"name": "b", "i": 3}, {"name": "a", "i": 1}]})
    assert differences_of(before, after) == [FieldDifference('.spec.c[name="b"].i', 2, 3)]


def test_values_of_secrets_are_hidden_and_their_change_is_not() -> None:
    before, after = (
        made("Secret", data={"password": value, "same": "c2FtZQ=="}) for value in ("b25l", "dHdv")
    )
    (row,) = differences_of(before, after)
    assert row.path == ".data.password"
    assert row.before != row.after
    assert "b25l" not in str(row) and "dHdv" not in str(row)
    created = str(differences_of(None, after))
    assert "dHdv" not in created and "password" in created


def test_copy_of_a_manifest_that_kubectl_keeps_is_not_shown() -> None:
    name = "kubectl.kubernetes.io/last-applied-configuration"
    before, after = (made("Secret", {"annotations": {name: text}}) for text in ("a", "b"))
    assert differences_of(before, after) == []


def test_address_that_the_server_makes_up_is_no_difference() -> None:
    before = made("Service", spec={"clusterIP": "10.0.0.1", "ports": [{"port": 1, "nodePort": 3}]})
    after = made("Service", spec={"clusterIP": "10.0.0.2", "ports": [{"port": 1, "nodePort": 4}]})
    assert differences_of(before, after) == []
    headless = made("Service", spec={"clusterIP": "None", "ports": [{"port": 1}]})
    assert [row.path for row in differences_of(before, headless)] == [".spec.clusterIP"]


def test_object_that_comes_shows_all_that_it_has() -> None:
    rows = differences_of(None, made("ConfigMap", data={"a": "1"}))
    assert rows == [
        FieldDifference(".metadata", NOT_THERE, {"name": "x"}),
        FieldDifference(".data", NOT_THERE, {"a": "1"}),
    ]
