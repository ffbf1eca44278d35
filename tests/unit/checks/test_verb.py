from __future__ import annotations

import json
import os

import pytest

from rolecall.cli import main
from rolecall_dev.checks import watches_schema
from tests.unit.checks.workshop import WATCHES, Workshop


@pytest.fixture
def here(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """The project as working directory, without our own environment's say."""
    for name in list(os.environ):
        if name.startswith(("ANSIBLE_", "WATCH_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(workshop.folder)
    return workshop


def test_project_in_order_exits_zero(here: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0

    assert capsys.readouterr().out == "checked 2 watches: 0 errors, 0 warnings\n"


def test_errors_exit_two(here: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    here.remove("roles/demo/tasks/main.yml")

    assert main(["check"]) == 2

    out = capsys.readouterr().out
    assert out.startswith("roles/demo: has no tasks/main.yml, so nothing would run\nhint: ")
    assert out.endswith("checked 2 watches: 1 error, 0 warnings\n")


def test_warnings_exit_zero_unless_strict(here: Workshop) -> None:
    here.replace(WATCHES, "  role: demo\n", "  role: demo\n  ansibleVerbosity: 3\n")

    assert main(["check"]) == 0
    assert main(["check", "--strict"]) == 2


def test_files_and_folders_can_be_named(here: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    (here.folder / WATCHES).rename(here.folder / "other.yaml")

    named = ["--watches-file", "other.yaml", "--crds", "config/crd/bases", "--rbac", "config/rbac"]
    assert main(["check", *named]) == 0
    assert main(["check"]) == 2

    assert "watches.yaml: could not be read" in capsys.readouterr().out


def test_schema_is_printed_for_editors(here: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--print-schema"]) == 0

    assert json.loads(capsys.readouterr().out) == watches_schema()


def test_environment_counts(here: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    here.replace(WATCHES, "role: demo", "role: ${ROLE_NAME}")

    assert main(["check"]) == 2
    monkeypatch.setenv("ROLE_NAME", "demo")
    assert main(["check"]) == 0


def test_what_breaks_under_another_core_is_reported_when_asked(
    here: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    here.write("roles/demo/tasks/main.yml", "- debug: {msg: x}\n  when: image_name | length\n")

    assert main(["check", "--for-core", "2.18"]) == 0
    assert main(["check", "--for-core", "2.19.4"]) == 2
    assert "write `image_name | length > 0`" in capsys.readouterr().out


@pytest.mark.parametrize(("installed", "exit_code"), [("2.18.19", 0), ("2.21.5", 2)])
def test_what_breaks_is_reported_for_the_core_that_is_installed(
    here: Workshop, monkeypatch: pytest.MonkeyPatch, installed: str, exit_code: int
) -> None:
    here.write("roles/demo/tasks/main.yml", "- debug: {msg: x}\n  when: image_name | length\n")
    monkeypatch.setattr("rolecall_dev.cli.check.metadata.version", lambda _name: installed)

    assert main(["check"]) == exit_code


def test_core_that_is_no_version_is_refused(
    here: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    del here
    with pytest.raises(SystemExit):
        main(["check", "--for-core", "newest"])

    assert "write one such as 2.19" in capsys.readouterr().err
