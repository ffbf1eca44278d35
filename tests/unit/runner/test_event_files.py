"""The files of `job_events/`: as ansible-runner itself writes them, whatever a play reports."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from ansible_runner.config.runner import RunnerConfig
from ansible_runner.runner import Runner
from ansible_runner.utils import OutputEventFilter

from rolecall.runner.fold import Exit
from rolecall.runner.secrets import MASK
from tests.unit.runner.test_recording import SECRET, Recorded, marker

CREATED = "2026-11-21T09:13:44.500000+00:00"
EVENTS: list[tuple[str, dict[str, Any], str]] = [
    ("playbook_on_start", {}, ""),
    ("runner_on_ok", {"res": {"msg": "ä € 😀", "n": [1, None, 0.5]}}, "ok: ä\nand more\n"),
    ("verbose", {}, "one\ntwo\n"),
]


def partial(uuid: str, name: str, data: dict[str, Any]) -> dict[str, Any]:
    """What the callback says of an event."""
    return {"event": name, "pid": 7, "uuid": uuid, "created": CREATED, "event_data": data}


def spoken() -> str:
    """The output of a play with these events, and a line of another program."""
    words = [
        f"{marker({'uuid': f'uuid-{at}'})}{said}{marker({})}"
        for at, (_, _, said) in enumerate(EVENTS)
    ]
    return "before\n" + "".join(words) + "after\n"


def event_files(folder: Path) -> dict[str, Any]:
    """Name to content, without what is drawn anew: the ids and times of words outside of events."""
    found = {}
    for path in (folder / "job_events").iterdir():
        event = json.loads(path.read_text())
        if not event["uuid"].startswith("uuid-"):
            event = {**event, "uuid": "", "created": ""}
        found[path.name.partition("-")[0]] = event
    return found


def by_ansible_runner(artifacts: Path) -> dict[str, Any]:
    """The files that ansible-runner's own class makes of it."""
    config = RunnerConfig(private_data_dir=str(artifacts.parent), ident=artifacts.name)
    config.artifact_dir = str(artifacts)
    (artifacts / "job_events").mkdir(parents=True)
    leave_partials(artifacts)
    with (artifacts / "stdout").open("w") as stdout:
        found = OutputEventFilter(stdout, Runner(config).event_callback, True)
        found.write(spoken())
        found.close()
    return event_files(artifacts)


def leave_partials(artifacts: Path) -> None:
    for at, (name, data, _) in enumerate(EVENTS):
        path = artifacts / "job_events" / f"uuid-{at}-partial.json"
        path.write_text(json.dumps(partial(f"uuid-{at}", name, data)))


@pytest.mark.parametrize("is_reported", [True, False])
def test_event_files_are_those_of_ansible_runner_itself(tmp_path: Path, is_reported: bool) -> None:
    recorded = Recorded(tmp_path)
    if is_reported:
        for at, (name, data, _) in enumerate(EVENTS):
            recorded.recording.report(partial(f"uuid-{at}", name, data))
    else:
        leave_partials(recorded.artifacts)
    recorded.recording.feed(spoken())
    recorded.recording.finish(Exit(0))
    theirs, ours = by_ansible_runner(tmp_path / "theirs" / "1"), event_files(recorded.artifacts)
    assert ours == theirs
    assert {at: list(ours[at]) for at in ours} == {at: list(theirs[at]) for at in theirs}
    said = (tmp_path / "theirs" / "1" / "stdout").read_text()
    assert recorded.files()["stdout"] == said


def test_event_is_found_though_its_report_comes_after_its_output(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    waiting = [partial("uuid-1", "runner_on_ok", {"res": {}})]
    recorded.recording.look_for_reports_with(lambda: recorded.recording.report(waiting.pop()))
    recorded.recording.feed(f"{marker({'uuid': 'uuid-1'})}ok\n{marker({})}")
    recorded.recording.finish(Exit(0))
    assert [event.name for event in recorded.events] == ["runner_on_ok"]


@pytest.mark.parametrize(
    "report",
    [{}, {"uuid": 1}, {"uuid": "../x"}, {"uuid": "uuid-1"}, {"uuid": "uuid-1", "event": []}],
)
def test_report_of_something_that_is_no_event_makes_none(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    recorded = Recorded(tmp_path)
    recorded.recording.report(report)
    recorded.recording.feed(f"{marker({'uuid': 'uuid-1'})}ok\n{marker({})}")
    result = recorded.recording.finish(Exit(2))
    assert recorded.events == []
    assert list((recorded.artifacts / "job_events").iterdir()) == []
    assert result.rc == 2


def test_reports_without_output_do_not_fill_the_memory(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    for at in range(5000):
        recorded.recording.report(partial(f"uuid-{at}", "runner_on_ok", {}))
    recorded.recording.feed(f"{marker({'uuid': 'uuid-4999'})}ok\n{marker({})}")
    recorded.recording.finish(Exit(0))
    assert recorded.events == []


def test_value_is_masked_where_an_event_quotes_json_that_holds_it(tmp_path: Path) -> None:
    value = 'pass"wörd\\1'
    recorded = Recorded(tmp_path)
    recorded.say("runner_on_ok", "", res={"result": {**SECRET, "stringData": {"p": value}}})
    recorded.say("runner_on_ok", "", res={"msg": f"it is {json.dumps(value)}"})
    recorded.recording.finish(Exit(0))
    assert recorded.events[1].data["res"]["msg"] == f'it is "{MASK}"'


def test_run_goes_on_and_reports_the_loss_when_its_events_were_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    recorded = Recorded(tmp_path)
    shutil.rmtree(recorded.artifacts / "job_events")
    for at in range(2):
        recorded.recording.report(partial(f"uuid-{at}", "runner_on_ok", {"res": {}}))
        recorded.recording.feed(f"{marker({'uuid': f'uuid-{at}'})}ok\n{marker({})}")
    recorded.recording.finish(Exit(0))
    assert len(recorded.events) == 2
    (reported,) = caplog.messages
    assert reported == "events of this run could not be kept in its artifacts; the run goes on"
