"""Which of our objects are there, and which must be written."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

OBJECTS = "etcdcluster_objects"
changed = role_filter("etcdcluster", "etcdcluster_changed", OBJECTS)
missing = role_filter("etcdcluster", "etcdcluster_missing", OBJECTS)

WANTED: dict[str, Any] = {
    "kind": "Service",
    "metadata": {"name": "db-peer", "labels": {"a": "b"}},
    "spec": {"ports": [{"name": "peer", "port": 2380}], "selector": {"a": "b"}},
}


def applied() -> dict[str, Any]:
    """As the API server keeps it, with what it added."""
    there = copy.deepcopy(changed([WANTED], [])[0])
    there["metadata"]["uid"] = "1"
    there["spec"]["clusterIP"] = "None"
    there["spec"]["ports"][0]["protocol"] = "TCP"
    found: dict[str, Any] = there
    return found


def test_object_that_is_as_wanted_is_not_written_again() -> None:
    assert changed([WANTED], [applied()]) == []


def test_object_that_is_not_there_is_written() -> None:
    assert [one["metadata"]["name"] for one in changed([WANTED], [])] == ["db-peer"]


@pytest.mark.parametrize(
    "spec",
    [
        {"ports": []},
        {"ports": [{"name": "peer", "port": 1}]},
        {"ports": [{"name": "peer", "port": 2380}, {"name": "more", "port": 2}]},
        {"selector": {"a": "c"}},
        {"selector": None},
    ],
)
def test_field_that_somebody_changed_is_put_back(spec: dict[str, Any]) -> None:
    there = applied()
    there["spec"] |= spec

    assert len(changed([WANTED], [there])) == 1


def test_field_that_is_not_wanted_any_more_is_written_once() -> None:
    less = copy.deepcopy(WANTED)
    del less["spec"]["selector"]

    again = changed([less], [applied()])
    assert len(again) == 1
    assert changed([less], again) == []


def test_name_that_is_taken_by_an_object_without_our_labels_is_looked_up() -> None:
    expected = [{"kind": "Service", "name": "db-peer"}, {"kind": "Service", "name": "db-client"}]

    assert missing(expected, [WANTED]) == [expected[1]]
