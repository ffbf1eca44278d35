"""Tasks of a run from its event files: while they come, when they are all there, whatever is in
them.
"""

from __future__ import annotations

import gc
import json
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.console.markup import shortened
from rolecall.extensions.console.page.shown_tasks import (
    RunsRead,
    ShownTask,
    ShownTasks,
    beginning_of,
    ends_of,
)


class Play:
    """Writes event files as a run does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "job_events").mkdir(parents=True)
        self.counter = 0

    def says(self, kind: str, task: str = "", **data: Any) -> None:
        self.counter += 1
        event_data = {"task_uuid": f"uuid-{task}", "task": task, **data}
        event = {"event": kind, "counter": self.counter, "event_data": event_data, "stdout": "out"}
        path = self.folder / "job_events" / f"{self.counter}-{kind}.json"
        path.write_text(json.dumps(event))

    def task(self, name: str, outcome: str, **result: Any) -> None:
        self.says("playbook_on_task_start", name, task_path=f"/p/roles/x/tasks/main.yml:{name}")
        self.says(f"runner_on_{outcome}", name, host="localhost", duration=0.5, res=result)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def all_of(tasks: ShownTasks) -> list[tuple[str, str]]:
    while tasks.read(2):
        pass
    return [(task.name, task.outcome) for task in tasks.tasks]


def test_each_task_has_its_outcome(play: Play) -> None:
    play.task("a", "ok")
    play.task("b", "ok", changed=True)
    play.task("c", "skipped")
    play.task("d", "failed", msg="no")
    play.says("playbook_on_task_start", "e")
    tasks = ShownTasks(play.folder)
    expected = [("a", "ok"), ("b", "changed"), ("c", "skipped"), ("d", "failed"), ("e", "")]
    assert all_of(tasks) == expected
    assert tasks.tasks[3].message == "no"
    assert tasks.tasks[0].seconds == 0.5


def test_failure_that_is_ignored_is_none(play: Play) -> None:
    play.says("playbook_on_task_start", "a")
    play.says("runner_on_failed", "a", host="h", ignore_errors=True, res={"msg": "no"})
    assert all_of(ShownTasks(play.folder)) == [("a", "ignored")]


def test_worst_of_several_hosts_counts(play: Play) -> None:
    play.says("playbook_on_task_start", "a")
    play.says("runner_on_failed", "a", host="one", res={})
    play.says("runner_on_ok", "a", host="two", res={"changed": True})
    assert all_of(ShownTasks(play.folder)) == [("a", "failed")]


def test_collector_looks_at_nothing_of_a_task_but_itself(play: Play) -> None:
    play.says("playbook_on_task_start", "a")
    for host in range(100):
        play.says("runner_on_ok", "a", host=f"host-{host}", res={"msg": "done"})
    tasks = ShownTasks(play.folder)
    all_of(tasks)
    (task,) = tasks.tasks
    gc.collect()
    assert task.hosts == 100
    assert len(task.ends) < 100
    assert {type(each) for each in gc.get_referents(task) if gc.is_tracked(each)} <= {type}
    assert list(ends_of(task, play.folder))[-1].host == "and 80 hosts more"


def test_what_comes_later_is_read_on_and_nothing_twice(play: Play) -> None:
    play.says("playbook_on_task_start", "a")
    tasks = ShownTasks(play.folder)
    assert all_of(tasks) == [("a", "")]
    play.says("runner_on_ok", "a", host="h", res={})
    play.task("b", "ok")
    assert all_of(tasks) == [("a", "ok"), ("b", "ok")]


def test_file_that_cannot_be_read_hides_nothing_after_it(play: Play) -> None:
    play.task("a", "ok")
    play.counter += 1
    (play.folder / "job_events" / "3-x.json").write_text('{"event": "playbook_on_ta')
    play.task("b", "ok")
    assert all_of(ShownTasks(play.folder)) == [("a", "ok"), ("b", "ok")]


def test_two_who_read_at_the_same_time_see_each_task_once(play: Play) -> None:
    for number in range(300):
        play.task(str(number), "ok")
    tasks = ShownTasks(play.folder)
    readers = [threading.Thread(target=all_of, args=[tasks]) for _ in range(4)]
    for each in readers:
        each.start()
    for each in readers:
        each.join()
    assert [task.name for task in tasks.tasks] == [str(number) for number in range(300)]


def test_long_output_is_cut_with_a_word_on_how_much(tmp_path: Path) -> None:
    file = tmp_path / "stdout"
    file.write_text("x" * 25)
    assert beginning_of(file, 25) == "x" * 25
    assert beginning_of(file, 10) == "x" * 10 + "\n… and 15 bytes more"
    assert "nothing was printed" in beginning_of(tmp_path / "gone", 10)


@pytest.mark.parametrize("content", ["[]", "null", '"x"', '{"event": 5, "event_data": [1]}', "{}"])
def test_file_of_another_shape_says_nothing(play: Play, content: str) -> None:
    (play.folder / "job_events" / "1-x.json").write_text(content)
    assert all_of(ShownTasks(play.folder)) == []


def test_details_are_what_the_task_was_given_and_said(play: Play) -> None:
    invocation = {"module_args": {"name": "web"}}
    play.task("a", "ok", changed=True, answer=42, invocation=invocation)
    tasks = ShownTasks(play.folder)
    all_of(tasks)
    (end,) = ends_of(tasks.tasks[0], play.folder)
    assert (end.host, end.outcome, end.stdout) == ("localhost", "ok", "out")
    assert json.loads(end.arguments) == {"name": "web"}
    assert json.loads(end.result) == {"changed": True, "answer": 42}


def test_run_without_a_folder_has_no_task(tmp_path: Path) -> None:
    assert all_of(RunsRead().of(tmp_path / "gone")) == []


def test_megabytes_are_cut_with_a_word_on_how_much() -> None:
    assert shortened("x" * 10, 10) == "x" * 10
    assert shortened("x" * 12, 10) == "x" * 10 + "\n… and 2 characters more"


def test_wrapper_play_of_the_run_does_not_appear_as_a_place(tmp_path: Path) -> None:
    play = Play(tmp_path / "artifacts" / "71")
    wrapper = f"{tmp_path}/project/71:1"
    play.says("playbook_on_task_start", "Gathering Facts", task_path=wrapper)
    tasks = ShownTasks(play.folder)
    assert all_of(tasks) == [("Gathering Facts", "")]
    assert tasks.tasks[0].path == ""


def test_one_task_of_a_long_run_is_found_without_a_list_of_all_files(tmp_path: Path) -> None:
    """Ten readers who open a task at the same moment made fifteen megabytes of such lists."""
    events = tmp_path / "job_events"
    events.mkdir()
    for number in range(1, 1501):
        (events / f"{number}-{number:08x}-0000-4000-8000-000000000000.json").write_text("{}")
    data = {"event": "runner_on_ok", "event_data": {"host": "localhost", "res": {}}}
    (events / "1501-x.json").write_text(json.dumps(data))
    task = ShownTask(1, "a", "", "", ends=(1501,))
    list(ends_of(task, tmp_path))  # what is imported for it
    tracemalloc.start()
    try:
        assert [end.host for end in ends_of(task, tmp_path)] == ["localhost"]
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
