"""`rolecall run` up to the point where the engine starts."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall.settings import flag_groups, flags_of_run

pytestmark = pytest.mark.usefixtures("logging_as_before")


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("rolecall")
    before = (list(root.handlers), root.level, ours.level)
    yield
    root.handlers[:], level, our_level = before
    root.setLevel(level)
    ours.setLevel(our_level)
    logging.captureWarnings(capture=False)


def test_help_shows_every_flag_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(f"--{name} " in said for name in flags_of_run())
    titles = [said.index(f"\n{group.title}:\n") for group in flag_groups()]
    assert titles == sorted(titles)


def test_settings_are_reported_once_without_what_may_be_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--ansible-args=-e password=hunter2", "--proxy-port=7"]) == 2
    said = capsys.readouterr().err
    (settings,) = [line for line in said.splitlines() if " settings " in line]
    assert "proxy-port=7" in settings
    assert "ansible-args=(set)" in settings
    assert "reconcile-period=10h0m0s" in settings
    assert "hunter2" not in said


def test_watches_that_cannot_be_read_end_with_two_and_a_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--watches-file=nowhere.yaml"]) == 2
    said = capsys.readouterr().err
    assert "nowhere.yaml: could not be read" in said
    assert "hint: name the file with `--watches-file`" in said
    assert "Traceback" not in said


def test_flag_that_is_wrong_is_reported_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "--leader-elect"]) == 2
    assert capsys.readouterr().err == (
        "error: leader election was asked for, but the Lease has no name\n"
        "hint: add --leader-election-id\n"
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "watches.yaml").write_text(
        "- {version: v1, group: example.com, kind: Thing, role: thing}\n"
    )
    (tmp_path / "roles" / "thing" / "tasks").mkdir(parents=True)
    (tmp_path / "roles" / "thing" / "tasks" / "main.yml").write_text("[]\n")
    return tmp_path


def test_project_that_would_start_is_valid_without_a_cluster(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(project / "nowhere"))
    assert main(["run", "--validate"]) == 0
    assert "valid  kinds=1\n" in capsys.readouterr().err


def test_validation_names_the_line_whose_role_is_not_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(project / "roles")
    assert main(["run", "--validate"]) == 2
    said = capsys.readouterr().err
    assert "watches.yaml:1" in said
    assert "looked in: ./roles/thing" in said
