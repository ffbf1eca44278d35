"""The path of a create has no name: it comes from the body, or from the answer."""

from __future__ import annotations

import json

import pytest

from rolecall.record import MOST_BYTES, touched_by
from tests.unit.extensions.record.test_notes import About, Run

_NAMED = {"kind": "ConfigMap", "metadata": {"name": "made", "namespace": "a"}}


@pytest.mark.parametrize(
    ("sent_type", "sent", "name"),
    [
        ("application/json", json.dumps(_NAMED).encode(), "made"),
        ("application/yaml", b"kind: ConfigMap\nmetadata: {name: made}\n", "made"),
        ("application/vnd.kubernetes.protobuf", b"k8s\x00 made", "made"),
        ("application/vnd.kubernetes.protobuf", b"k8s\x00 list", ""),
        ("application/json", b'{"metadata": {"generateName": "made-"}}', ""),
        ("application/json", b'{"metadata": {"name": 3}}', ""),
        ("application/json", b'{"metadata": "made"}', ""),
        ("application/json", b"[" * 5000, ""),
        ("application/json", b"\xff", ""),
        ("application/json", b" " * (MOST_BYTES + 1), ""),
    ],
)
def test_refused_create_is_of_the_object_that_its_body_names(
    sent_type: str, sent: bytes, name: str
) -> None:
    run = Run()
    run.event("playbook_on_task_start", "t1")
    note = run.notes.begin(About(verb="create", name=""), "")
    note.sent_type, note.answer_type = sent_type, "application/json"
    note.read_protobuf = lambda body: _NAMED if b"made" in body else None
    note.send(sent)
    run.notes.end(note, 409)
    run.event("runner_on_ok", "t1")
    (request,) = run.notes.record().requests
    assert request.name == name
    touched = touched_by(run.notes.record())
    assert bool(touched.unknown) is not bool(name)
    assert [each.is_wanted and each.was_there for each in touched.objects.values()] == [
        True
    ] * bool(name)


def test_answer_in_protobuf_shows_its_object() -> None:
    run = Run()
    owned = {"uid": "u", "resourceVersion": "7", "name": "x", "ownerReferences": [{"uid": "cr"}]}
    shown = {"kind": "ConfigMap", "metadata": owned}
    for found in (shown, None):
        note = run.notes.begin(About(verb="create", name=""), "")
        note.answer_type = "application/vnd.kubernetes.protobuf"
        note.read_protobuf = lambda _, found=found: found
        note.answer(b"k8s")
        run.notes.end(note, 201)
    read, unread = run.notes.record().requests
    assert (read.name, read.uid, read.object_version, read.is_owned) == ("x", "u", "7", True)
    assert (unread.name, unread.unread) == (
        "",
        "its answer is `application/vnd.kubernetes.protobuf`",
    )
