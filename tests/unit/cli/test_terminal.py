"""What people see at terminals of several widths: on a real pseudo-terminal, as they would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from contextlib import suppress

import pytest

from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Screen, cells
from tests.unit.cli.fake_engine import FakeEngine, ago, cr

SEQUENCE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LONG = "the image registry.example.com/a/very/long/name:of-an-image could not be pulled " * 3


def on_terminal(engine: FakeEngine, width: int, *words: str, **environ: str) -> str:
    """What a terminal of this width gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = engine.environ(**environ)
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    process = subprocess.Popen(
        engine.command(*words), env=environment, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    said = b""
    with suppress(OSError):  # how a pseudo-terminal says that the other end closed
        while data := os.read(ours, 65536):
            said += data
    os.close(ours)
    process.wait()
    return said.decode().replace("\r\n", "\n")


def with_crowd(engine: FakeEngine) -> None:
    last = {"run": "8345", "outcome": "failed", "reason": LONG, "ended": ago(4000)}
    task = "wait for the Deployment of the website to become available in all of its zones"
    engine.crs = [
        cr("a-website-with-a-rather-long-name-as-people-write-them", "running", task=task),
        cr("shop", "failed", last=last, next_at=ago(-4000), next_why="retry 3"),
        cr("blog", "waiting", urgency="edit", cause="edit of generation 4", last=last),
        cr("日本語のとても長い名前のウェブサイト" * 2, "ready"),
    ]


@pytest.mark.parametrize("width", [30, 80, 200])
@pytest.mark.parametrize("word", ["", "website"])
def test_status_fits_the_terminal_and_is_never_wrapped(
    engine: FakeEngine, width: int, word: str
) -> None:
    with_crowd(engine)
    said = SEQUENCE.sub("", on_terminal(engine, width, *filter(None, ("status", word))))
    lines = said.splitlines()
    assert len(lines) == 1 + len(engine.crs)
    assert max(map(cells, lines)) <= width
    assert all(state in said for state in ("running", "failed", "waiting", "ready"))


@pytest.mark.parametrize("width", [80, 200])
def test_runs_fit_the_terminal(engine: FakeEngine, width: int) -> None:
    engine.crs = [cr("shop")]
    engine.keep_run("shop", "8" * 36, outcome="failed", cause=LONG, reason=LONG)
    lines = on_terminal(engine, width, "runs", "website/shop").splitlines()
    assert len(lines) == 2
    assert max(cells(SEQUENCE.sub("", line)) for line in lines) <= width


@pytest.mark.parametrize("width", [80, 200])
def test_reason_of_one_cr_is_reported_in_full(engine: FakeEngine, width: int) -> None:
    with_crowd(engine)
    said = SEQUENCE.sub("", on_terminal(engine, width, "status", "website/shop"))
    assert max(map(cells, said.splitlines())) <= width
    assert " ".join(said.split()).count("could not be pulled") == 3


def test_colours_are_for_terminals_that_want_them(engine: FakeEngine) -> None:
    with_crowd(engine)
    assert "\x1b[0;31mfailed\x1b[0m" in on_terminal(engine, 80, "status")
    assert "\x1b" not in on_terminal(engine, 80, "status", NO_COLOR="1")
    assert "\x1b" not in on_terminal(engine, 80, "status", TERM="dumb")


def test_live_table_is_drawn_in_place(engine: FakeEngine) -> None:
    with_crowd(engine)
    said = on_terminal(engine, 80, "status", "-w")
    assert said.startswith("\x1b[2J\x1b[H")
    assert said.count("website/shop") == said.count("\x1b[H") == 2


def test_output_of_a_play_has_the_colours_of_ansible_playbook(engine: FakeEngine) -> None:
    output = (
        "\nTASK [web : a] ***\n[WARNING]: beware\n\nok: [localhost]\n"
        'changed: [localhost] => {\n    "x": 1\n}\n\nfatal: [localhost]: FAILED! => no\n...ignoring\n'
        "\n--- before\n+++ after\n@@ -1 +1 @@\n-a\n+b\n c\n\nPLAY RECAP ***\n"
        "localhost   : ok=3    changed=1    unreachable=0    failed=0\n"
    )
    engine.crs = [cr("shop")]
    engine.keep_run("shop", "1", output, outcome="succeeded")
    said = on_terminal(engine, 80, "logs", "website/shop")
    red, green, yellow, purple, cyan = (
        f"\x1b[{code}m" for code in ("0;31", "0;32", "0;33", "1;35", "0;36")
    )
    assert SEQUENCE.sub("", said) == output
    for colour, text in (
        (purple, "[WARNING]: beware"),
        (green, "ok: [localhost]"),
        (yellow, "changed: [localhost] => {"),
        (yellow, '    "x": 1'),
        (red, "fatal: [localhost]: FAILED! => no"),
        (cyan, "...ignoring"),
        (red, "-a"),
        (green, "+b"),
        (yellow, "changed=1"),
        (yellow, "localhost"),
    ):
        assert f"{colour}{text}\x1b[0m" in said
    assert "\n c\n" in said
    assert "TASK [web : a] ***\n" in said
    assert "\x1b" not in on_terminal(engine, 80, "logs", "website/shop", NO_COLOR="1")


def test_program_gets_whole_texts() -> None:
    columns = (Column("A", least=3), Column("B", least=3))
    assert table(columns, [[LONG, "b"]], Screen())[1] == f"{LONG.strip()}  b"


def test_column_that_matters_least_goes_where_nothing_else_helps() -> None:
    columns = (Column("NAME", least=4), Column("STATE"), Column("LAST", least=6, may_go=1))
    lines = table(columns, [["a" * 30, "running", "b" * 30]], Screen(True, False, 20))
    assert lines == ["NAME         STATE", "aaaaaaaaaa…  running"]
