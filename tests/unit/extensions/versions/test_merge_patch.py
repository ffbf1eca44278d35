from __future__ import annotations

from typing import Any

import pytest

from rolecall.extensions.versions.admission.merge_patch import PatchError, json_patch

OBJECT = {"spec": {"size": 1, "tags": ["a"], "a/b~c": {"x": 1}}, "metadata": {"name": "n"}}


@pytest.mark.parametrize(
    ("patch", "steps"),
    [
        (None, []),
        ({}, []),
        ({"spec": {"size": 1, "tags": ["a"]}}, []),
        ({"spec": {"size": 3}}, [{"op": "replace", "path": "/spec/size", "value": 3}]),
        ({"spec": {"size": None, "gone": None}}, [{"op": "remove", "path": "/spec/size"}]),
        (
            {"spec": {"a/b~c": {"y": {"z": None, "w": 1}}}},
            [{"op": "add", "path": "/spec/a~1b~0c/y", "value": {"w": 1}}],
        ),
        (
            {"metadata": {"labels": {"team": "a"}}},
            [{"op": "add", "path": "/metadata/labels", "value": {"team": "a"}}],
        ),
        (
            {"spec": {"size": {"of": 1}}},
            [{"op": "replace", "path": "/spec/size", "value": {"of": 1}}],
        ),
        ([{"op": "remove", "path": "/spec"}], [{"op": "remove", "path": "/spec"}]),
    ],
)
def test_patch_becomes_the_steps_that_change_something(patch: Any, steps: list[Any]) -> None:
    assert json_patch(patch, OBJECT) == steps


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("x", "neither a map"),
        ([{"op": "alter", "path": "/spec"}], "lacks `op` or `path`"),
        ([{"op": "add"}], "lacks `op` or `path`"),
        (["x"], "is not a map"),
    ],
)
def test_invalid_patch_is_reported(patch: Any, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        json_patch(patch, OBJECT)


def test_request_without_an_object_takes_no_patch() -> None:
    with pytest.raises(PatchError, match="no object"):
        json_patch({"spec": {}}, None)
