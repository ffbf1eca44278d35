"""The command line of `rolecall top`, and how it asks commands."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall_dev.top import command
from rolecall_dev.top.operator import ChildCommands, LostEngineError
from tests.unit.top.fake_operator import cr

PROGRAM = """\
import json, os, sys
words = sys.argv[1:]
print("said on stderr", file=sys.stderr)
if words[0] == "status":
    document = json.loads(open({state!r}).read())
    print(json.dumps(document))
    sys.exit(document.get("code", 0))
print(words, os.isatty(1), os.environ.get("COLUMNS"))
"""


def write(path: Path, engine: object, code: int = 0) -> None:
    path.write_text(json.dumps({"engine": engine, "crs": [cr("shop")], "code": code}))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a `python -m rolecall status` prints that is found before ours."""
    path = tmp_path / "state"
    (tmp_path / "rolecall.py").write_text(PROGRAM.format(state=str(path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return path


def test_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    assert main(["top"]) != 0
    assert "`pip install 'rolecall-dev[top]'`" in capsys.readouterr().err


def test_other_commands_do_not_import_textual() -> None:
    code = (
        "import sys; from rolecall.cli import commands, parser_for; commands(); parser_for(['top']);"
        "sys.exit('textual' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_program_that_reads_is_sent_to_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top"]) != 0
    assert "`rolecall top` needs a terminal" in capsys.readouterr().err


def test_flags_of_the_engine_and_of_the_crs_are_passed_on() -> None:
    typed = argparse.Namespace(artifacts_dir="/runs", operator=None, what="website", namespace="a")
    assert command.words_of_place(typed) == ["--artifacts-dir=/runs"]
    assert command.words_of_crs(typed) == ["website", "--namespace=a"]


async def test_command_that_is_shown_has_a_terminal_of_the_width(state: Path) -> None:
    answer = await ChildCommands(["--operator=a/b"]).ask(["runs", "website/shop"], 77)
    assert answer.lines == ["['runs', 'website/shop', '--operator=a/b'] True 77"]
    assert answer.said == ["said on stderr"]


async def test_pause_gets_no_flags_of_the_engine(state: Path) -> None:
    answer = await ChildCommands(["--operator=a/b"]).ask(["pause", "website/shop"])
    assert answer.text.startswith("['pause', 'website/shop'] False")


async def test_lines_that_are_followed_include_those_for_the_person(state: Path) -> None:
    async with aclosing(ChildCommands([]).follow(["logs", "x/y"], 80)) as lines:
        assert [line async for line in lines] == ["said on stderr", "['logs', 'x/y'] True 80"]


@pytest.mark.parametrize(
    ("engine", "code", "seen"),
    [
        ({"shards": None}, 0, 2),  # one document, then the stream
        (None, 0, 1),
        ({"shards": None}, 3, 0),
    ],
)
async def test_states_come_until_the_engine_is_lost(
    state: Path, engine: object, code: int, seen: int
) -> None:
    write(state, engine, code)
    found = []
    with pytest.raises(LostEngineError):
        async with aclosing(ChildCommands([]).states()) as states:
            async for each in states:
                found.append(each)
    assert len(found) == seen
    assert all(each.source == "said on stderr" for each in found)


async def test_replicas_that_divide_the_crs_are_asked_again_and_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall_dev.top.operator._POLL_S", 0.0)
    write(state, {"shards": {"count": 2}})
    async with aclosing(ChildCommands([]).states()) as states:
        found = [await asyncio.wait_for(anext(states), 30) for _ in range(3)]
    assert len(found) == 3
