"""Where two specs differ."""

from __future__ import annotations

from rolecall.extensions.console.page.differences import differences


def test_paths_of_what_changed_came_and_went() -> None:
    then = {"size": 1, "image": "a", "env": [{"name": "A"}, {"name": "B"}], "old": True}
    now = {"size": 2, "image": "a", "env": [{"name": "A"}], "new": {"x": 1}}
    assert differences(then, now) == [
        (".size", 1, 2),
        (".env[1]", {"name": "B"}, None),
        (".old", True, None),
        (".new", None, {"x": 1}),
    ]


def test_number_is_no_truth() -> None:
    assert differences({"a": 1}, {"a": True}) == [(".a", 1, True)]


def test_equal_specs_do_not_differ() -> None:
    assert differences({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []
