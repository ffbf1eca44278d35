"""What is printed of a play, where, and with which texts."""

from __future__ import annotations

import asyncio
import io
import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.logs import PrintedPlays
from rolecall.runner import Ending, RunEvent, RunResult, TaskFailure
from rolecall.workqueue import Key

KEY = Key(Gvk("demo.example.com", "v1", "App"), "ns", "x")


def ended(**fields: Any) -> RunResult:
    return RunResult("7", Ending.FINISHED, 0, **fields)


class Said:
    """A play log and all that it said."""

    def __init__(self, caplog: pytest.LogCaptureFixture, mode: str = "tasks", **more: Any) -> None:
        self.stdout = io.StringIO()
        self.plays = PrintedPlays(mode, **({"prints_stdout": False} | more), stream=self.stdout)
        self._caplog = caplog
        caplog.set_level(logging.INFO, "rolecall")

    def event(self, event: str, stdout: str = "", /, *, verbosity: int = 0, **data: Any) -> Said:
        self.plays.event(KEY, "7", RunEvent(event, 1, "", stdout, data), verbosity)
        return self

    @property
    def records(self) -> list[tuple[str, str, dict[str, Any]]]:
        return [(r.levelname, r.getMessage(), vars(r)["fields"]) for r in self._caplog.records]


def test_task_start_is_logged_with_contract_keys(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("playbook_on_task_start", task="make it", name="make it")
    assert said.records == [
        (
            "INFO",
            "[playbook task start]",
            {
                "name": "x",
                "namespace": "ns",
                "gvk": "demo.example.com/v1, Kind=App",
                "event_type": "playbook_on_task_start",
                "job": "7",
                "EventData.Name": "make it",
            },
        )
    ]
    assert said.stdout.getvalue() == ""


@pytest.mark.parametrize("action", ["set_fact", "debug", "ansible.builtin.debug"])
def test_start_of_a_quiet_action_is_not_logged(
    action: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert not Said(caplog).event("playbook_on_task_start", task="t", task_action=action).records


@pytest.mark.parametrize("action", ["debug", "ansible.builtin.debug"])
def test_debug_is_logged_with_its_arguments(action: str, caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("runner_on_ok", task="t", task_action=action, task_args="msg=hi")
    assert said.records[0][1] == "[playbook debug]"
    assert said.records[0][2]["EventData.TaskArgs"] == "msg=hi"


def test_debug_shows_what_it_says(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("runner_on_ok", task="t", task_action="debug", res={"msg": "hi"})
    assert said.records[0][2]["EventData.Msg"] == "hi"


def test_failed_task_is_reported_with_its_place_and_is_no_error_yet(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = Said(caplog).event("runner_on_failed", task="t", task_args="a", task_path="roles/x:3")
    level, message, fields = said.records[0]
    assert (level, message) == ("INFO", "[playbook task failed]")  # a `rescue` may follow
    assert fields["EventData.Task"] == "t"
    assert fields["EventData.FailedTaskPath"] == "roles/x:3"
    assert fields["EventData.TaskArgs"] == "a"


def test_arguments_that_ansible_does_not_show_are_not_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = Said(caplog).event("runner_on_failed", task="t", task_args="", task_path="roles/x:3")
    said.event("runner_on_ok", task="t", task_action="debug", task_args="", res={"msg": "hi"})
    assert all("EventData.TaskArgs" not in fields for _, _, fields in said.records)


def test_ignored_failure_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("runner_on_failed", task="t", ignore_errors=True)
    assert said.records[0][0] == "INFO"


def test_item_is_printed_in_a_box(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("runner_item_on_ok", "ok: (item=1)", task="loop it")
    assert "Ansible Task StdOut" in said.stdout.getvalue()
    assert "TASK [loop it]" in said.stdout.getvalue()
    assert "ok: (item=1)" in said.stdout.getvalue()


def test_verbosity_prints_raw_output_instead_of_lines(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog).event("playbook_on_task_start", "TASK [a] ***", verbosity=1, task="a")
    assert said.stdout.getvalue() == "TASK [a] ***\n"
    assert said.records == []


def test_everything_logs_events_of_no_task_too(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog, "everything").event("playbook_on_play_start", "PLAY [x]", play="x")
    assert said.records[0][2]["EventData"] == {"play": "x"}
    assert "PLAY [x]" in said.stdout.getvalue()


async def test_nothing_prints_no_event_but_the_recap(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(caplog, "nothing").event("runner_on_failed", task="t")
    await said.plays.recap(KEY, ended(recap_stdout="localhost : ok=1 failed=0"))
    assert said.records == []
    title = "Ansible Task Status Event StdOut (demo.example.com/v1, Kind=App, x/ns)"
    assert title in said.stdout.getvalue()
    assert "failed=0" in said.stdout.getvalue()


@pytest.fixture
async def threads_end() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.mark.usefixtures("threads_end")
@pytest.mark.parametrize("asked", [True, False])
async def test_whole_output_is_printed_only_for_debugging(
    asked: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "stdout").write_text("PLAY [all] ...")
    said = Said(caplog, prints_stdout=asked)
    await said.plays.recap(KEY, ended(recap_stdout="recap", artifacts=tmp_path))
    assert ("Ansible Debug Result" in said.stdout.getvalue()) is asked
    assert ("PLAY [all]" in said.stdout.getvalue()) is asked


@pytest.mark.usefixtures("threads_end")
@pytest.mark.parametrize("asked", [True, False])
async def test_recap_of_a_failed_run_is_printed_once(
    asked: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recap = "localhost : ok=1 failed=1"
    (tmp_path / "stdout").write_text(f"PLAY [all] ...\n{recap}")
    said = Said(caplog, prints_stdout=asked)
    failures = [TaskFailure("boom", "t", "a.yml:1")]
    await said.plays.recap(KEY, ended(recap_stdout=recap, artifacts=tmp_path, failures=failures))
    assert said.stdout.getvalue().count(recap) == 1
    assert ("PLAY [all]" in said.stdout.getvalue()) is asked


class Clogged(io.StringIO):
    """A pipe that takes nothing until it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = threading.Event()

    def write(self, text: str) -> int:
        assert self.is_read.wait(30), "no reader got a turn"
        return super().write(text)


@pytest.mark.usefixtures("threads_end")
async def test_loop_goes_on_while_the_whole_output_is_printed(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("PLAY [all] ...")
    pipe = Clogged()
    plays = PrintedPlays("nothing", prints_stdout=True, stream=pipe)
    printing = asyncio.create_task(plays.recap(KEY, ended(artifacts=tmp_path)))
    await asyncio.sleep(0)
    pipe.is_read.set()
    await printing
    assert "PLAY [all]" in pipe.getvalue()


def test_condition_that_the_next_core_refuses_is_logged_once_for_each_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warning = (
        "[DEPRECATION WARNING]: Conditional result at location /opt/tasks/main.yml LINE:13"
        " was of type 'int'. Conditional results should only be True or False."
    )
    said = Said(caplog, mode="nothing")
    for line in ("6", "8", "6"):
        said.event("deprecated", warning.replace("LINE", line))

    assert [(level, text, fields["place"]) for level, text, fields in said.records] == [
        ("WARNING", "a condition is not true or false, which ansible-core 2.19 refuses", place)
        for place in ("/opt/tasks/main.yml:6", "/opt/tasks/main.yml:8")
    ]
    assert "https://docs.ansible.com/" in said.records[0][2]["hint"]
