"""A run's notes become a record: which task asked for what, and what is not known."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.record.notes import MOST_REQUESTS, RequestNote, RunNotes
from rolecall.record import (
    MOST_BYTES,
    NO_TASK,
    read_record,
    write_record,
)
from rolecall.record.file import RECORD_FILE


@dataclass(frozen=True)
class About:
    verb: str = "get"
    path: str = "/api/v1/namespaces/a/configmaps/x"
    group: str = ""
    version: str = "v1"
    resource: str = "configmaps"
    subresource: str = ""
    namespace: str = "a"
    name: str = "x"


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    def boottime(self) -> float:
        return self.monotonic()

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


_EMPTY = '{"changed": false, "skipped_reason": "No items in the list"}'


class Run:
    def __init__(self) -> None:
        self.clock = Hand()
        self.notes = RunNotes(
            "7", lambda metadata: bool(metadata.get("ownerReferences")), self.clock
        )

    def event(self, name: str, task: str, **result: Any) -> None:
        data = {"task_uuid": task, "task": f"do {task}", "task_action": "k8s", "res": result}
        self.notes.task(name, data, self.clock.monotonic(), place=f"tasks/main.yml:{len(task)}")

    def ask(self, about: About, answer: Any = None, code: int = 200, **note: Any) -> RequestNote:
        noted = self.notes.begin(about, note.pop("query", ""))
        noted.sent_type = note.pop("sent_type", "application/json")
        if sent := note.pop("sent", b""):
            noted.send(sent)
        noted.answer_type = note.pop("answer_type", "application/json")
        noted.answer(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
        self.notes.end(noted, code)
        return noted


def config_map(version: str, **metadata: Any) -> dict[str, Any]:
    named = {"name": "x", "namespace": "a", "uid": "u1", "resourceVersion": version}
    return {"kind": "ConfigMap", "metadata": {**named, **metadata}, "data": {"k": "v"}}


def test_request_belongs_to_the_task_under_way() -> None:
    run = Run()
    run.ask(About(), config_map("1"))
    run.clock.advance(1)
    run.event("playbook_on_task_start", "t1")
    run.clock.advance(1)
    run.ask(About(), config_map("2"))
    run.clock.advance(1)
    run.event("runner_on_ok", "t1", changed=True)
    run.clock.advance(1)
    run.ask(About(), config_map("3"))
    run.clock.advance(1)
    run.event("playbook_on_task_start", "t2")
    run.ask(About(), config_map("4"))
    record = run.notes.record()
    assert [each.task for each in record.requests] == [NO_TASK, 0, NO_TASK, 1]
    first, second = record.tasks
    assert (first.name, first.place, first.outcome) == ("do t1", "tasks/main.yml:2", "changed")
    assert second.ended_s is None


@pytest.mark.parametrize(
    ("events", "is_left_out"),
    [
        ([("runner_on_skipped", "skipping: [localhost]")], True),
        ([("runner_item_on_skipped", ""), ("runner_on_ok", "")], True),
        ([("runner_on_skipped", ""), ("runner_on_ok", "")], True),  # of another host
        ([("runner_on_ok", "")], False),
        ([("runner_on_skipped", f"skipping: [localhost] => {_EMPTY}")], False),
        ([("runner_item_on_skipped", ""), ("runner_on_skipped", _EMPTY)], True),
    ],
)
def test_task_that_a_condition_skipped_is_left_out_and_one_without_items_is_not(
    events: list[tuple[str, str]], is_left_out: bool
) -> None:
    run = Run()
    run.event("playbook_on_task_start", "t1")
    for name, said in events:
        run.notes.task(name, {"task_uuid": "t1"}, run.clock.monotonic(), said=said)
    (task,) = run.notes.record().tasks
    assert task.left_out is is_left_out


def test_include_is_noted_with_what_it_includes() -> None:
    run = Run()
    for action in ("ansible.builtin.include_tasks", "k8s"):
        data = {"task_uuid": action, "task_action": action, "task_args": "_raw_params=a.yml"}
        run.notes.task("playbook_on_task_start", data, 1.0)
    assert [task.includes for task in run.notes.record().tasks] == ["_raw_params=a.yml", ""]


def test_report_that_comes_late_still_gets_its_requests() -> None:
    run = Run()
    began_s = run.clock.monotonic()
    run.clock.advance(1)
    run.ask(About(), config_map("1"))
    run.clock.advance(1)
    run.notes.task("playbook_on_task_start", {"task_uuid": "t"}, began_s)
    assert run.notes.record().requests[0].task == 0


def test_answer_says_version_and_owner_and_no_content() -> None:
    run = Run()
    owned = config_map("5", ownerReferences=[{"uid": "cr"}])
    body = b'{"data": {"password": "hunter2"}}'
    run.ask(About(verb="update"), owned, sent=body)
    (request,) = run.notes.record().requests
    assert (request.object_version, request.uid, request.is_owned) == ("5", "u1", True)
    assert request.leaves == (".data.password",)
    assert "hunter2" not in repr(run.notes.record())


def test_list_changes_its_digest_when_an_item_does() -> None:
    run = Run()
    about = About(verb="list", name="")
    for items in (["1", "2"], ["2", "1"], ["1", "3"], ["1"]):
        listed = [
            config_map(version, name=f"x{place}") for place, version in enumerate(sorted(items))
        ]
        answer = {"kind": "ConfigMapList", "metadata": {"resourceVersion": "9"}, "items": listed}
        run.ask(about, answer)
    digests = [each.items_digest for each in run.notes.record().requests]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
    assert run.notes.record().requests[0].named_items == ("a/x0@1", "a/x1@2")


def test_table_is_read_as_the_list_that_it_shows() -> None:
    run = Run()
    rows = [{"cells": [], "object": {"metadata": config_map("1")["metadata"]}}]
    run.ask(About(verb="list", name=""), {"kind": "Table", "metadata": {}, "rows": rows})
    assert run.notes.record().requests[0].named_items == ("a/x@1",)


def test_what_cannot_be_read_says_why() -> None:
    run = Run()
    run.ask(About(), b"x" * (MOST_BYTES + 1))
    stream = run.notes.begin(About(verb="watch"), "")
    stream.is_stream = True
    run.notes.end(stream, 200)
    run.ask(About(), b"k8s\x00...", answer_type="application/vnd.kubernetes.protobuf")
    part = {"kind": "PodList", "metadata": {"continue": "x"}, "items": []}
    run.ask(About(verb="list", name=""), part)
    reported = [each.unread for each in run.notes.record().requests]
    assert reported[0] == "its answer has more than 1024 KB"
    assert reported[1] == "it is a stream"
    assert reported[2] == "its answer is `application/vnd.kubernetes.protobuf`"
    assert reported[3] == "it was read in several parts"
    assert run.notes.record().unread.startswith("get configmaps/x: its answer has more")


def test_record_that_overflows_is_incomplete() -> None:
    run = Run()
    for _ in range(MOST_REQUESTS + 5):
        run.ask(About(), b"{}", code=404)
    record = run.notes.record()
    assert len(record.requests) == MOST_REQUESTS
    assert record.incomplete == "the run made more than 10,000 requests"


def test_file_says_what_was_noted_and_is_for_us_alone(tmp_path: Path) -> None:
    run = Run()
    run.event("playbook_on_task_start", "t1")
    run.ask(About(), config_map("1"), query="labelSelector=a%3Db")
    run.ask(About(verb="patch"), config_map("2"), sent=b'{"a": 1}')
    record = run.notes.record()
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    assert (tmp_path / RECORD_FILE).stat().st_mode & 0o777 == 0o600


def test_file_that_is_no_record_is_none(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    for text in ("", "[]", "{}", '{"run": "1", "began": "x"}', "[" * 100_000):
        (tmp_path / RECORD_FILE).write_text(text)
        assert read_record(tmp_path) is None


def test_what_was_not_answered_at_the_end_is_in_the_record() -> None:
    run = Run()
    run.event("playbook_on_task_start", "t1")
    run.notes.begin(About(verb="patch"), "")
    stream = run.notes.begin(About(verb="watch"), "")
    stream.code, stream.is_stream = 200, True
    asked, watched = run.notes.record().requests
    assert (asked.verb, asked.code, asked.task) == ("patch", 0, 0)
    assert (watched.code, watched.unread) == (200, "it is a stream")


def test_write_names_its_field_manager() -> None:
    run = Run()
    for query in ("", "fieldManager=ansible&force=true"):
        note = run.notes.begin(About(verb="patch"), query)
        note.agent = "OpenAPI-Generator/37.0.2/python"
        run.notes.end(note, 200)
    managers = [each.manager for each in run.notes.record().requests]
    assert managers == ["OpenAPI-Generator", "ansible"]


def test_read_takes_less_than_150_bytes_while_its_run_is_in_flight() -> None:
    run = Run()
    names = [f"deployment-{number}" for number in range(2000)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number, name in enumerate(names):
        run.ask(About(name=name), config_map(str(number), name=name, uid=f"{number:036}"))
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert used / len(names) < 150


def test_delete_that_was_a_dry_run_counts_as_no_deletion() -> None:
    run, about = Run(), About(verb="delete")
    run.ask(about, query="dryRun=All")
    run.ask(about, sent=b'{"dryRun": ["All"]}')
    assert not run.notes.has_deleted("", "configmaps", "a", "x")
    run.ask(about, query="dryRun=All", sent=b"{}")
    assert run.notes.has_deleted("", "configmaps", "a", "x")
    assert [each.is_dry_run for each in run.notes.record().requests] == [True, True, False]


def test_wrapper_play_of_the_run_does_not_appear_in_its_record() -> None:
    run = Run()
    data = {"task_uuid": "t1", "task": "Gathering Facts", "task_path": "/tmp/w/project/7:1"}
    run.notes.task("playbook_on_task_start", data, 0.0, place="")
    (task,) = run.notes.record().tasks
    assert (task.name, task.place) == ("Gathering Facts", "")
