"""What counts as a failed run, on the real ansible-playbook."""

from __future__ import annotations

import json
import stat

import pytest

from rolecall.runner import Ending
from rolecall.watches import Play
from tests.play.plays import HERE, Played, Workspace, play


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run in which much goes wrong, and nothing for good."""
    return play(Workspace(tmp_path_factory.mktemp("judged")), "judged", more={"status": {}})


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run that rescues one task and fails at another."""
    return play(Workspace(tmp_path_factory.mktemp("failing")), "failing")


def test_ignored_and_rescued_tasks_do_not_fail_the_run(judged: Played) -> None:
    assert judged.result.succeeded, judged.stdout
    assert judged.result.rc == 0
    failed = [event for event in judged.events if event.name == "runner_on_failed"]
    assert len(failed) == 2


def test_the_recap_counts_as_the_contract(judged: Played) -> None:
    recap = judged.result.recap
    assert recap is not None
    assert (recap.ok, recap.changed, recap.skipped, recap.failures) == (7, 1, 1, 0)
    assert recap.completion.endswith("+00:00")
    assert "failed=0" in judged.result.recap_stdout


def test_tasks_that_changed_something_are_named(judged: Played) -> None:
    assert judged.result.changed_tasks == (
        "tests/play/roles/judged/tasks/main.yml:18: change something",
    )


def test_requeue_after_lets_the_play_end_first(judged: Played) -> None:
    assert judged.result.requeue_after_s == 90.0
    assert judged.messages("still goes on") == ["shop"]


def test_the_bundled_collection_is_found_without_configuration(judged: Played) -> None:
    (event,) = [e for e in judged.events if "period" in (e.data.get("res") or {})]
    assert event.data["resolved_action"] == "operator_sdk.util.requeue_after"


def test_garbage_that_a_module_prints_harms_nothing(judged: Played) -> None:
    assert any(event.data.get("task") == "garbage" for event in judged.events)


def test_no_log_results_are_hidden_everywhere(judged: Played) -> None:
    for name, text in judged.files.items():
        assert "hidden output" not in text, name


def test_artifacts_are_ansible_runners_and_private(judged: Played) -> None:
    folder = judged.result.artifacts
    assert folder is not None
    assert (folder.parent / "latest").resolve() == folder
    assert {path.name for path in folder.iterdir()} >= {
        "command",
        "job_events",
        "rc",
        "status",
        "stderr",
        "stdout",
    }
    assert (folder / "status").read_text() == "successful"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in files} == {0}
    counters = [
        json.loads(path.read_text())["counter"] for path in folder.glob("job_events/*.json")
    ]
    assert sorted(counters) == list(range(1, len(counters) + 1))


def test_the_failed_task_is_named_and_the_rescued_one_is_not(failing: Played) -> None:
    (failure,) = failing.result.failures
    assert failure.message == "storage class `fast` does not exist"
    assert failure.task == "create claim | apply"
    assert failure.place.endswith("roles/failing/tasks/main.yml:10")
    assert (failing.result.ending, failing.result.rc) == (Ending.FINISHED, 2)


def test_an_unreachable_host_fails_the_run(workspace: Workspace) -> None:
    inventory = workspace.folder / "hosts"
    inventory.write_text("far ansible_host=127.0.0.1 ansible_port=1 ansible_connection=ssh\n")
    playbook = workspace.folder / "play.yml"
    playbook.write_text(
        "- hosts: far\n  gather_facts: false\n  tasks: [{ansible.builtin.ping: }]\n"
    )
    workspace.settings["inventory"] = inventory
    result = play(workspace, Play(playbook, is_role=False)).result
    assert [failure.host for failure in result.failures] == ["far"]
    assert (result.ending, result.rc) == (Ending.FINISHED, 4)


@pytest.mark.parametrize(
    ("role", "says", "place"),
    [
        ("broken_module", "nosuch.collection.module", "tasks/main.yml:1"),
        ("broken_yaml", "parsing a flow mapping", "tasks/main.yml:"),
    ],
)
def test_a_broken_play_says_why_in_one_line(
    workspace: Workspace, role: str, says: str, place: str
) -> None:
    result = play(workspace, role).result
    assert result.ending is Ending.NO_RECAP
    assert says in result.reason_text
    assert f"roles/{role}/{place}" in result.reason_text
    assert "\n" not in result.reason_text


def test_a_role_that_vanished_is_reported_without_starting_anything(workspace: Workspace) -> None:
    result = play(workspace, Play(HERE / "roles" / "gone", is_role=True)).result
    assert result.ending is Ending.NOT_STARTED
    assert "roles/gone` was not found" in result.reason_text
