"""A discovery document that leaves out the kinds of a server that is down."""

from __future__ import annotations

import json

import pytest

from rolecall.record import touched_by
from tests.unit.extensions.record.test_notes import About, Run

DOCUMENT = About(path="/apis", version="", resource="", namespace="", name="")


def discovery(freshness: str) -> bytes:
    versions = [{"version": "v1", "resources": [], "freshness": freshness}]
    items = [{"metadata": {"name": "x.example.com"}, "versions": versions}]
    return json.dumps({"kind": "APIGroupDiscoveryList", "items": items}).encode()


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("freshness", ["Stale", "Current"])
def test_kinds_of_a_server_that_is_down_are_unknown(freshness: str, size: int) -> None:
    run, body = Run(), discovery(freshness)
    note = run.notes.begin(DOCUMENT, "")
    note.answer_type = "application/json"
    for start in range(0, len(body), size):
        note.answer(body[start : start + size])
    run.notes.end(note, 200)
    unknown = touched_by(run.notes.record()).unknown
    said = "get /apis: a server whose kinds it lists did not answer"
    assert unknown == (said if freshness == "Stale" else "")


def test_object_with_such_a_text_is_read_as_ever() -> None:
    run = Run()
    found = {"kind": "Thing", "metadata": {"uid": "u"}, "status": {"freshness": "Stale"}}
    run.ask(About(), found)
    assert touched_by(run.notes.record()).unknown == ""
