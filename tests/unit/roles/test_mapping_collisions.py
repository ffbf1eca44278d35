"""Whose a prefix is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

Json = dict[str, Any]
prefix_owner = role_filter("mapping", "mapping_prefix_owner")

MATCH = ("prefix", "headers", "hosts")


def mapping(name: str, *, home: str = "shop", second: int = 0, **spec: Any) -> Json:
    """One that was made in this second."""
    made = f"2026-01-01T00:00:{second:02}Z"
    metadata = {"name": name, "namespace": home, "creationTimestamp": made}
    match = {"prefix": "/a/", **{key: spec[key] for key in MATCH if key in spec}}
    others = {key: value for key, value in spec.items() if key not in MATCH}
    return {"metadata": metadata, "spec": {"match": match, **others}}


@pytest.mark.parametrize(
    ("older", "younger"),
    [
        ({}, {}),
        ({}, {"home": "other"}),
        ({"prefix": "/a"}, {"prefix": "/a/"}),
        ({"prefix": "/"}, {"prefix": "/"}),
        ({"headers": {"x": "1"}}, {"headers": {"X": "1"}}),
        ({"headers": {"x": "1"}}, {"headers": {"y": "1"}}),
        ({"hosts": ["a.org", "b.org"]}, {"hosts": ["b.org"]}),
        ({"gateway": {"name": "g"}}, {"gateway": {"name": "g", "namespace": "shop"}}),
    ],
)
def test_older_mapping_keeps_a_prefix_that_a_younger_one_wants_too(
    older: Json, younger: Json
) -> None:
    first, second = mapping("first", second=1, **older), mapping("second", second=2, **younger)
    assert prefix_owner([second, first], second) == "shop/first"
    assert prefix_owner([second, first], first) == ""


@pytest.mark.parametrize(
    ("older", "younger"),
    [
        ({}, {"prefix": "/a/b/"}),
        ({"headers": {"x": "1"}}, {"headers": {"x": "2"}}),
        ({}, {"headers": {"x": "1"}}),
        ({"headers": {"x": "1", "y": "1"}}, {"headers": {"x": "1"}}),
        ({}, {"hosts": ["a.org"]}),
        ({"hosts": ["*.org"]}, {"hosts": ["a.org"]}),
        ({"gateway": {"name": "g"}}, {}),
        ({"gateway": {"name": "g"}}, {"gateway": {"name": "g"}, "home": "other"}),
    ],
)
def test_mappings_of_which_one_has_the_better_claim_do_not_collide(
    older: Json, younger: Json
) -> None:
    first, second = mapping("first", second=1, **older), mapping("second", second=2, **younger)
    assert prefix_owner([first, second], second) == ""


def test_loser_does_not_block_the_prefix() -> None:
    first = mapping("first", second=1, headers={"x": "1"})
    loser = mapping("loser", second=2, headers={"y": "1"})
    third = mapping("third", second=3, headers={"x": "2", "y": "1"})
    assert prefix_owner([first, loser, third], loser) == "shop/first"
    assert prefix_owner([first, loser, third], third) == ""


def test_prefix_of_a_mapping_that_goes_is_free() -> None:
    going = mapping("going", second=1)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:09Z"
    assert prefix_owner([going, mapping("next", second=2)], mapping("next", second=2)) == ""


def test_of_two_of_the_same_second_one_wins() -> None:
    one, two = mapping("one"), mapping("two")
    assert (prefix_owner([two, one], one), prefix_owner([two, one], two)) == ("", "shop/one")


def test_edit_that_the_list_does_not_show_yet_counts() -> None:
    first, second = mapping("first", second=1), mapping("second", second=2)
    edited = mapping("second", second=2, prefix="/b/")
    assert prefix_owner([first, second], edited) == ""
