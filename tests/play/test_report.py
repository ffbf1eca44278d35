"""What roles say by `rolecall.operator`, with the real ansible-playbook."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.play.fake_api import FakeApi, serving
from tests.play.plays import Played, Workspace, play

ATTEMPTS = ["loop", "undefined", "hidden", "dead"]


class Reported(Workspace):
    """A workspace whose runs reach an API server."""

    server = ""

    def _kubeconfig(self) -> Path:
        path = self.folder / "kubeconfig"
        content = {
            "kind": "Config",
            "apiVersion": "v1",
            "current-context": "run",
            "clusters": [{"name": "run", "cluster": {"server": self.server}}],
            "contexts": [{"name": "run", "context": {"cluster": "run", "user": "run"}}],
            "users": [{"name": "run", "user": {"username": "a", "password": "b"}}],
        }
        path.write_text(yaml.safe_dump(content))
        return path


@pytest.fixture(scope="module", params=[pytest.param("stock", marks=pytest.mark.nightly), "warm"])
def reported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Played, FakeApi]:
    """A run that says what it can, and fails in many ways."""
    workspace = Reported(tmp_path_factory.mktemp("reported"), way=request.param)
    spec = {"count": "3", "version": "3.50", "note": "{{ hostile }}", "attempts": ATTEMPTS}
    with serving() as api:
        workspace.server = api.url
        played = play(workspace, "reporting", spec)
    assert played.result.way == request.param
    return played, api


def test_values_keep_their_types(reported: tuple[Played, FakeApi]) -> None:
    status = {name: value for name, value in reported[1].status.items() if name != "conditions"}
    expected = {"count": 3, "version": "3.50", "is_big": True, "names": [3, "b"]}
    assert status == {"kept": "yes", **expected}


def test_text_of_a_cr_is_never_a_template(reported: tuple[Played, FakeApi]) -> None:
    first = reported[1].readies[0]
    expected = ("True", "AllReady", "3 of 3: {{ hostile }}")
    assert (first["status"], first["reason"], first["message"]) == expected


def test_report_reads_once_and_writes_only_what_is_news(reported: tuple[Played, FakeApi]) -> None:
    first = ["GET v1", "GET shop", "PATCH status", "GET shop.counted", "POST events"]
    assert reported[1].requests[:8] == [*first, "GET v1", "GET shop", "GET shop.counted"]


def test_event_is_about_the_cr(reported: tuple[Played, FakeApi]) -> None:
    about = reported[1].events["shop.counted"]["involvedObject"]
    assert (about["kind"], about["name"], about["uid"]) == ("App", "shop", "u-1")


def test_again_asks_for_the_next_run(reported: tuple[Played, FakeApi]) -> None:
    assert reported[0].result.requeue_after_s == 5


def test_report_is_no_change_that_could_go_on_for_ever(reported: tuple[Played, FakeApi]) -> None:
    result = reported[0].result
    assert set(result.changed_tasks) >= result.report_tasks
    assert len(result.report_tasks) == 1


def test_each_way_to_fail_is_reported(reported: tuple[Played, FakeApi]) -> None:
    readies = dict(zip([*ATTEMPTS, "refusal"], reported[1].readies[1:], strict=True))
    messages = {name: ready["message"] for name, ready in readies.items()}
    assert messages["loop"] == "fail in a loop: item `3`: 3 is broken"
    assert messages["hidden"] == "fail with a secret: its output is hidden by `no_log`"
    assert "die: " in messages["dead"]
    assert "out of paper" in messages["dead"]
    assert "'nowhere' is undefined" in messages["undefined"]
    reasons = [ready["reason"] for ready in readies.values()]
    assert reasons == ["Retrying"] * len(ATTEMPTS) + ["NameTaken"]
    assert messages["refusal"] == "`{{ hostile }}` was there before"


def test_run_fails_in_the_name_of_the_task_that_failed(reported: tuple[Played, FakeApi]) -> None:
    (failure,) = reported[0].result.failures
    expected = ("refuse a name", "`{{ hostile }}` was there before", "")
    assert (failure.task, failure.message, failure.detail) == expected
    assert failure.place == "tests/play/roles/reporting/tasks/main.yml:36"
