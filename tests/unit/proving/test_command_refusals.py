"""What `rolecall test` says before it starts anything, where what was asked for is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.cli import main
from tests.e2e.proving.small_roles import read_roles, write_project

_SAMPLE = "config/samples/plain.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    role = next(each for each in read_roles("correct") if each.name == "plain")
    folder = write_project(tmp_path / "project", [role])
    monkeypatch.chdir(folder)
    # No control plane can be started: a command that tried would say so instead of what is expected.
    monkeypatch.setenv("ROLECALL_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return folder


def _leave(project: Path) -> None:
    assert project.is_dir()


def _without_watches(project: Path) -> None:
    (project / "watches.yaml").unlink()


def _with_bad_watches(project: Path) -> None:
    (project / "watches.yaml").write_text("- group: [\n")


def _with_bad_sample(project: Path) -> None:
    (project / _SAMPLE).write_text("kind: Plain\nspec: {size: [1\n")


def _with_odd_samples(project: Path) -> None:
    (project / _SAMPLE).write_text("apiVersion: small.example.com/v1\nkind: Plain\nmetadata: one\n")


def _without_samples(project: Path) -> None:
    (project / _SAMPLE).unlink()


def _with_bad_replay(project: Path) -> None:
    (project / "case.json").write_text('{"sample": "x", "case": {"check": 1}}')


def _with_odd_replay(project: Path) -> None:
    (project / "case.json").write_text(
        f'{{"sample": "{_SAMPLE}", "case": {{"check": "drift", "subject": "Plain/two",'
        ' "reported": "x", "params": {}}}'
    )


@pytest.mark.parametrize(
    ("break_it", "words", "said"),
    [
        (_leave, ["--kind", "Plane"], "kind `Plane` is not watched"),
        (_leave, ["--check", "drifts"], "`drifts` is not a check"),
        (_leave, ["--sample", "none.yaml"], "none.yaml: could not be read"),
        (_leave, ["--replay", "none.json"], "none.json: not a case that can be replayed"),
        (_leave, ["--check", "upgrade"], "`upgrade` needs to know from where"),
        (_leave, ["--budget", "soon"], "soon"),
        (_leave, [], "`rolecall cluster build` builds them"),
        (_without_watches, [], "has no watches.yaml, so there is no operator to test"),
        (_with_bad_watches, [], "watches.yaml"),
        (_with_bad_sample, [], f"{_SAMPLE}: could not be read"),
        (_with_odd_samples, [], f"{_SAMPLE}: `metadata` of Plain has no name"),
        (_without_samples, [], "no sample of a watched kind was found in config/samples"),
        (_with_bad_replay, ["--replay", "case.json"], "not a case that can be replayed"),
        (_with_odd_replay, ["--replay", "case.json"], "is not a case of this project"),
    ],
)
def test_missing_file_is_reported_and_nothing_is_started(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    break_it: Callable[[Path], None],
    words: list[str],
    said: str,
) -> None:
    break_it(project)
    try:
        code = main(["test", *words])
    except SystemExit as ended:  # argparse
        code = int(str(ended.code))
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert code == 2
