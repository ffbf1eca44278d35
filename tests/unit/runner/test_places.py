"""A failure is placed in a file that its reader has, never in the play that was written for the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import TaskFailure
from rolecall.runner.fold import Fold
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.secrets import Redactor
from rolecall.watches import Play
from tests.unit.runner.cases import Reported, prepared_run, run_request

WRITTEN = Path("/private/project/7001")


def prepared(role: Path) -> PreparedRun:
    return prepared_run(run_request(play=Play(role, is_role=True)), role_play=WRITTEN)


def failed_check(role: Path, checked: Path | None = None) -> TaskFailure:
    """A task of the play that was written for a role, as Ansible puts it there to check arguments."""
    context = {"validate_args_context": {"type": "role", "path": str(checked)}} if checked else {}
    reported = Reported(prepared=prepared(role)).failed(
        "Validating arguments against arg spec 'main'",
        task_path=f"{WRITTEN}:1",
        task_action="ansible.builtin.validate_argument_spec",
        res={"failed": True, "msg": "missing required arguments: size", **context},
    )
    (failure,) = reported.stats(failures=1).result(2).failures
    return failure


@pytest.mark.parametrize("name", ["argument_specs.yml", "argument_specs.yaml", "main.yml"])
def test_argument_spec_failure_names_the_specs_and_no_deleted_file(
    tmp_path: Path, name: str
) -> None:
    role = tmp_path / "roles" / "app"
    (role / "meta").mkdir(parents=True)
    (role / "meta" / name).write_text("argument_specs: {}")
    failure = failed_check(role, checked=role)
    assert failure.message == "missing required arguments: size"
    assert failure.place == f"roles/app/meta/{name}"


def test_argument_spec_failure_of_a_dependency_names_that_role(tmp_path: Path) -> None:
    assert failed_check(tmp_path / "roles/app", tmp_path / "roles/base").place == "roles/base"


def test_other_task_of_the_written_play_names_the_role(tmp_path: Path) -> None:
    assert failed_check(tmp_path / "roles" / "app").place == "roles/app"


def test_play_that_breaks_in_the_written_file_names_the_role() -> None:
    said = f"[ERROR]: the role 'gone' was not found\nOrigin: {WRITTEN}:1:50\n"
    reported = Reported(prepared=prepared(Path("/project/roles/app")))
    reason = reported.result(4, said).reason_text
    assert reason.startswith("the role 'gone' was not found (role `app`); ")


@pytest.mark.parametrize(
    ("path", "place"),
    [(f"{WRITTEN}:1", ""), ("/project/roles/app/tasks/main.yml:3", "roles/app/tasks/main.yml:3")],
)
def test_run_in_flight_is_not_placed_in_the_written_play(path: str, place: str) -> None:
    fold = Fold(prepared(Path("/project/roles/app")), Redactor())
    event = {"event": "playbook_on_task_start", "uuid": "1", "counter": 1}
    reported = fold.add({**event, "event_data": {"task": "Gathering Facts", "task_path": path}})
    assert reported is not None
    assert reported.place == place
