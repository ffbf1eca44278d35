"""What is said before any verb is looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from importlib.metadata import EntryPoint

import pytest

from rolecall import cli
from rolecall.cli import main


@pytest.mark.parametrize("words", [[], ["version"], ["run"], ["--help"]])
def test_error_on_windows_recommends_wsl_in_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(words) == 2
    what, hint = capsys.readouterr().err.splitlines()
    assert what.startswith("error: Ansible does not run on Windows")
    assert "WSL" in hint


def test_command_of_a_deleted_extension_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = EntryPoint("gone", "rolecall.extensions.deleted:COMMANDS", "rolecall.commands")
    monkeypatch.setattr(cli, "entry_points", lambda group: [gone])
    assert main(["status"]) == 2
    assert capsys.readouterr().err.startswith("error: `status` is not a command")


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        (["run", "--help"], ["rolecall.extensions.console.flags"]),
        (["status", "--help"], []),
        (["runs", "a/b", "--artifacts-dir=/nowhere"], []),
    ],
)
def test_command_loads_no_more_than_it_needs(words: list[str], loaded: list[str]) -> None:
    code = (
        "import sys, rolecall.cli\ntry: rolecall.cli.main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print('\\nloaded:', *sorted(sys.modules))"
    )
    ran = [sys.executable, "-c", code, *words]
    said = subprocess.run(ran, capture_output=True, text=True, check=True).stdout
    found = said.rpartition("\nloaded: ")[2].split()
    assert set(loaded) <= set(found)
    costly = ("aiohttp", "cryptography.x509", "kopf", "prometheus_client", "rolecall.extending")
    assert [name for name in costly if name in found] == []


ENDING = ("run", "completion", "version")


@pytest.fixture
def engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a pod, where `rolecall-dev` is not installed."""

    def entry_points(group: str) -> list[EntryPoint]:
        found = metadata.entry_points(group=group)
        return [point for point in found if not point.value.startswith("rolecall_dev.")]

    monkeypatch.setattr(cli, "entry_points", entry_points)


@pytest.mark.usefixtures("engine_alone")
@pytest.mark.parametrize("word", ["init", "cluster", "rum"])
def test_engine_alone_says_in_one_line_where_other_commands_come_from(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert main([word]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: `{word}` ")
    assert "pip install 'rolecall[dev]'" in line


@pytest.mark.usefixtures("engine_alone")
def test_help_of_the_engine_alone_lists_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    found = re.findall(r"^    ([a-z-]+) ", said, re.MULTILINE)
    assert found == [
        *("status", "runs", "logs", "blame", "page", "usage", "reconcile", "stop", "pause"),
        *("resume", "migrate-storage"),
        *ENDING,
    ]
    assert "pip install 'rolecall[dev]'" in said


def test_help_lists_the_commands_for_developers_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert {"init", "run"} <= set(re.findall(r"^    ([a-z-]+) ", said, re.MULTILINE))
    assert "pip install" not in said


def test_alone_it_lists_commands_by_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    assert "  look at a running operator:\n    status " in said
    assert all(f"    {name} " in said for name in cli.commands())
    assert max(map(len, said.splitlines())) <= 80


def test_misspelt_command_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["statsu"]) == 2
    assert "did you mean `status`?" in capsys.readouterr().err
