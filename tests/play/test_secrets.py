"""No value of a Secret leaves a run, and what explains a failure still does."""

from __future__ import annotations

import base64

import pytest

from tests.play.plays import CREDENTIAL, Played, Workspace, play

PASSWORD = 'pass"word\\with-odds'


@pytest.fixture(scope="module")
def secretive(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run that shows a Secret's value in every way, at a verbosity that shows everything."""
    workspace = Workspace(tmp_path_factory.mktemp("secretive"))
    return play(workspace, "secretive", {"password": PASSWORD}, verbosity=4)


@pytest.mark.parametrize(
    "value",
    [
        PASSWORD,
        'pass\\"word\\\\with-odds',
        base64.b64encode(PASSWORD.encode()).decode(),
        CREDENTIAL,
        "hidden-by-author",
    ],
)
def test_a_secret_is_in_no_artifact_event_or_message(secretive: Played, value: str) -> None:
    for name, text in secretive.files.items():
        assert value not in text, name
    known_late = [e for e in secretive.events if e.data.get("task") == "before anybody knows"]
    for event in secretive.events:
        if event not in known_late:
            assert value not in repr(event), event
    assert value not in repr(secretive.result)


def test_class_code_object_and_task_of_the_error_stay(secretive: Played) -> None:
    (failure,) = secretive.result.failures
    assert failure.message == "401 Unauthorized: ******** is wrong for Secret login"
    assert failure.task == "login | try"
    assert "401 Unauthorized" in secretive.stdout
