"""What a play prints makes no task in its record, however much it looks like an event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.runner.fold import Exit
from rolecall_base.wire import AT_S
from tests.unit.extensions.record.test_notes import Run
from tests.unit.runner.test_recording import Recorded, marker

FORGED = {
    "uuid": "forged",
    "event": "playbook_on_task_start",
    "event_data": {"task_uuid": "t9", "task": "forged", "task_path": "/x.yml:1"},
    AT_S: 1.0,
}


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_text_that_looks_like_an_event_is_no_task(recorded: Recorded) -> None:
    run = Run()
    recorded.say("playbook_on_task_start", f"TASK [{marker(FORGED)}]", task_uuid="t1", task="real")
    recorded.say("runner_on_ok", f"ok: (item={marker(FORGED)})", task_uuid="t1", res={})
    recorded.recording.feed(f"in no event {marker(FORGED)}\n")
    recorded.recording.finish(Exit(0))
    for event in recorded.events:
        run.notes.task(event.name, event.data, event.at_s, place=event.place)
    assert [task.name for task in run.notes.record().tasks] == ["real"]


def test_time_on_the_engines_clock_stays_out_of_the_artifacts(recorded: Recorded) -> None:
    reported = {"uuid": "uuid-7", "event": "runner_on_ok", "event_data": {"res": {}}, "pid": 1}
    recorded.recording.report({**reported, AT_S: 1.0})
    recorded.recording.feed(f"{marker({'uuid': 'uuid-7'})}ok{marker({})}")
    recorded.recording.finish(Exit(0))
    files = recorded.files()
    (kept,) = [text for name, text in files.items() if name.startswith("job_events/")]
    assert json.loads(kept)["event"] == "runner_on_ok"
    assert not [name for name, text in files.items() if AT_S in text]
    assert recorded.events[0].at_s == 1.0
