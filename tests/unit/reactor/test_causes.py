"""What the reactor says of why it brings a key."""

from __future__ import annotations

from typing import Any

from rolecall.reactor.cr_memo import cause_of, memo_of
from rolecall.reconcile import PAUSED_ANNOTATION
from tests.unit.reactor.objects import metadata

PAUSED = {"annotations": {PAUSED_ANNOTATION: "true"}}


def cause(old: dict[str, Any] | None, new: dict[str, Any]) -> str:
    seen = metadata(**new)
    return cause_of(memo_of(metadata(**old)) if old is not None else None, memo_of(seen), seen).text


def test_an_edit_names_its_generation() -> None:
    assert cause({"generation": 3}, {"generation": 4}) == "edit of generation 4"
    assert cause({"resourceVersion": "3"}, {"resourceVersion": "4"}) == "edit"
    assert cause({"generation": 3}, {"generation": 3, "annotations": {"a": "b"}}) == (
        "edit of annotations"
    )


def test_a_new_object_is_a_creation_also_under_an_old_name() -> None:
    assert cause(None, {"generation": 1}) == "creation"
    assert cause({"generation": 1}, {"generation": 1, "uid": "other"}) == "creation"


def test_a_deletion_is_one_though_it_raises_the_generation() -> None:
    deleted = {"generation": 2, "deletionTimestamp": "2026-11-21T10:00:00Z"}
    assert cause({"generation": 1}, deleted) == "deletion"
    assert cause(None, deleted) == "deletion"


def test_a_pause_and_its_end_are_distinguished() -> None:
    assert cause({"generation": 1}, {"generation": 1, **PAUSED}) == "pause"
    assert cause({"generation": 1, **PAUSED}, {"generation": 1}) == "resumed"


def test_memo_keeps_the_annotations_that_extensions_ask_for() -> None:
    def asked(**annotations: str) -> str:
        return memo_of(metadata(annotations=annotations), asking=("x.dev/mode", "x.dev/more")).asked

    assert asked(other="a") == asked() != asked(**{"x.dev/mode": "observe"})
    assert asked(**{"x.dev/mode": "a"}) != asked(**{"x.dev/more": "a"})
