"""No message is missed, and what is none is left out."""

from __future__ import annotations

import pytest
from tools.messages import messages, messages_of


def found(source: str) -> list[tuple[str, str]]:
    return [(it.kind, it.text) for it in messages_of(source, "room", "engine/a.py")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('_logger.info("listening", extra={})', ("info", "listening")),
        ('_logger.exception("a reconcile failed")', ("error", "a reconcile failed")),
        ('raise InputError(f"`{self.file}` is " "empty")', ("error", "`{file}` is empty")),
        ('error = LinkError("no way " + ", ".join(names))', ("error", "no way {names}")),
        ('report.warn(line, f"{key} was ignored")', ("warning", "{key} was ignored")),
        ('events.record(cr, message="The run has begun")', ("text", "The run has begun")),
        ('Flag("port", help="where it listens")', ("help", "where it listens")),
        ("REASONS = {1: 'the object is gone'}", ("text", "the object is gone")),
        ("TEXT = (\n 'one two'\n ' three')", ("text", "one two three")),
    ],
)
def test_message_is_found_with_its_kind(source: str, expected: tuple[str, str]) -> None:
    assert found(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        '"""What this module is for."""',
        'def f():\n    """Say what it does."""',
        'raise RuntimeError("a bug of ours alone")',
        're.compile("one two three")',
        'path = "config/rbac/role.yaml"',
        'headers["Content-Type"] = "text/plain"',
    ],
)
def test_what_no_person_reads_is_left_out(source: str) -> None:
    assert found(source) == []


def test_way_out_stands_with_its_message() -> None:
    source = 'raise InputError("no such file there", hint="create it first")'
    assert [(it.text, it.hint) for it in messages_of(source, "room", "engine/a.py")] == [
        ("no such file there", "create it first")
    ]


@pytest.mark.slow
def test_all_of_both_packages_are_found() -> None:
    rooms = {it.room for it in messages()}
    assert {"rolecall.kube", "rolecall.reconcile", "rolecall_dev.checks"} <= rooms
