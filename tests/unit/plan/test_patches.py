"""Patches of what only a plan knows: as the RFCs and Kubernetes have them."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.plan.patches import (
    UnfitPatchError,
    applied,
    json_patched,
    merge_patched,
    strategic_patched,
)


@pytest.mark.parametrize(
    ("there", "patch", "after"),
    [  # of RFC 7386
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch_is_that_of_the_rfc(there: Any, patch: Any, after: Any) -> None:
    assert merge_patched(there, patch) == after


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        ([{"op": "add", "path": "/b", "value": 2}], {"a": 1, "l": [1, 2], "b": 2}),
        ([{"op": "add", "path": "/l/1", "value": 9}], {"a": 1, "l": [1, 9, 2]}),
        ([{"op": "add", "path": "/l/-", "value": 3}], {"a": 1, "l": [1, 2, 3]}),
        ([{"op": "replace", "path": "/l/0", "value": 7}], {"a": 1, "l": [7, 2]}),
        ([{"op": "remove", "path": "/a"}], {"l": [1, 2]}),
        ([{"op": "move", "from": "/a", "path": "/c"}], {"c": 1, "l": [1, 2]}),
        ([{"op": "copy", "from": "/a", "path": "/x~1y"}], {"a": 1, "x/y": 1, "l": [1, 2]}),
        ([{"op": "test", "path": "/a", "value": 1}], {"a": 1, "l": [1, 2]}),
    ],
)
def test_json_patch_is_that_of_the_rfc(steps: Any, after: Any) -> None:
    assert json_patched({"a": 1, "l": [1, 2]}, steps) == after


@pytest.mark.parametrize(
    "step",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/nothing"},
        {"op": "replace", "path": "/nothing", "value": 1},
        {"op": "add", "path": "/l/9", "value": 1},
        {"op": "add", "path": "/l/01", "value": 1},
        {"op": "add", "path": "no-pointer", "value": 1},
        {"op": "add", "path": "/b"},
        {"op": "sing", "path": "/a"},
        "no operation",
    ],
)
def test_json_patch_that_does_not_fit_is_refused_and_changes_nothing(step: Any) -> None:
    there = {"a": 1, "l": [1, 2]}
    with pytest.raises(UnfitPatchError):
        json_patched(there, [{"op": "add", "path": "/first", "value": 1}, step])
    assert there == {"a": 1, "l": [1, 2]}


def test_strategic_patch_merges_lists_by_their_key() -> None:
    there = {"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}]}
    patch = {
        "containers": [
            {"name": "a", "env": [{"name": "Y", "value": "2"}]},
            {"name": "b", "image": "2"},
        ]
    }
    assert strategic_patched(there, patch) == {
        "containers": [
            {
                "name": "a",
                "image": "1",
                "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
            },
            {"name": "b", "image": "2"},
        ]
    }


def test_strategic_patch_obeys_its_directives() -> None:
    there = {
        "containers": [{"name": "a"}, {"name": "b"}],
        "args": ["x"],
        "finalizers": ["one", "two"],
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "gone": {"a": 1},
    }
    patch = {
        "containers": [{"name": "a", "$patch": "delete"}],
        "args": ["y"],
        "$deleteFromPrimitiveList/finalizers": ["one"],
        "strategy": {"$retainKeys": ["type"], "type": "Recreate"},
        "gone": {"$patch": "delete"},
    }
    assert strategic_patched(there, patch) == {
        "containers": [{"name": "b"}],
        "args": ["y"],
        "finalizers": ["two"],
        "strategy": {"type": "Recreate"},
    }


def test_apply_takes_nothing_away() -> None:
    there = {"data": {"a": "1"}, "metadata": {"name": "x", "labels": {"l": "1"}}}
    assert applied(there, {"data": {"b": "2"}}) == {**there, "data": {"a": "1", "b": "2"}}
