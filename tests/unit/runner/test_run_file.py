"""`run.json`: what each run leaves for `rolecall runs`, however it ended."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

from rolecall.history import RUN_FILE, KeptRun, kept_crs, read_run
from rolecall.runner import Ending, RunResult, TaskFailure, create_runner
from rolecall.runner.fold import Exit
from rolecall.runner.run_file import run_that_ended
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from tests.unit.runner.cases import app, run_request
from tests.unit.runner.test_recording import SECRET, VALUE, Recorded


def test_run_is_there_from_its_beginning_and_whole_at_its_end(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, cr=app(metadata={"name": "shop", "generation": 4}))
    begun = read_run(recorded.artifacts)
    assert (begun.outcome, begun.kind, begun.name) == ("running", "App", "shop")
    assert (begun.generation, begun.ended) == (4, None)
    assert begun.began is not None

    recorded.say("playbook_on_stats", "PLAY RECAP", ok={"localhost": 1})
    recorded.recording.finish(Exit(0, seconds=1.5, way="warm"))

    ended = read_run(recorded.artifacts)
    assert (ended.outcome, ended.ending, ended.way) == ("succeeded", "Finished", "warm")
    assert (ended.seconds, ended.began) == (1.5, begun.began)
    assert ended.ended is not None
    assert stat.S_IMODE((recorded.artifacts / RUN_FILE).stat().st_mode) == 0o600


def test_failed_task_is_named_and_no_secret_is_reported(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    path = str(tmp_path / "roles/app/tasks/main.yml:3")
    recorded.say(
        "runner_on_ok", "ok", host="localhost", task="read it", res={"resources": [SECRET]}
    )
    recorded.say(
        "runner_on_failed",
        "fatal",
        host="localhost",
        task=f"use {VALUE}",
        task_path=path,
        res={"msg": f"it says {VALUE}"},
    )
    stats = {"failures": {"localhost": 1}, "processed": {"localhost": 1}}
    recorded.say("playbook_on_stats", "PLAY RECAP", **stats)
    recorded.recording.finish(Exit(2))

    ended = read_run(recorded.artifacts)

    assert ended.outcome == "failed"
    assert ended.failed_task is not None
    assert ended.failed_task.place.endswith("tasks/main.yml:3")
    assert ended.failed_task.message == ended.reason == "it says ********"
    assert VALUE not in (recorded.artifacts / RUN_FILE).read_text()


def test_time_limit_and_cancel_are_distinguished(tmp_path: Path) -> None:
    for run, ending, outcome, reason in (
        ("1", Ending.TIMED_OUT, "failed", "over its limit before the first task; stopped"),
        ("2", Ending.CANCELLED, "cancelled", "over its limit"),
    ):
        recorded = Recorded(tmp_path, run_id=run)
        recorded.recording.finish(Exit(None, ended_as=ending, reason="over its limit"))
        found = read_run(recorded.artifacts)
        assert (found.outcome, found.ending, found.reason) == (
            outcome,
            ending.value,
            reason,
        )


async def test_run_that_could_not_start_is_reported_too_and_they_do_not_pile_up(
    tmp_path: Path,
) -> None:
    settings = RunnerSettings(root=tmp_path / "runner", way="stock")
    runner = create_runner(settings)
    missing = Play(tmp_path / "roles" / "missing", is_role=True)
    for number in range(4):
        request = run_request(play=missing, run_id=str(number), keep=2)
        handle = await runner.start(request, lambda _: None)
        assert (await handle.result()).ending is Ending.NOT_STARTED
    await runner.close()

    (cr,) = kept_crs(settings.root)
    runs = cr.runs()

    assert [run.run for run in runs] == ["3", "2"]
    assert (runs[0].outcome, runs[0].ending) == ("failed", "NotStarted")
    assert "missing" in runs[0].reason


def test_reason_has_the_way_out_that_the_failure_came_with() -> None:
    failures = (TaskFailure("no", "t", "main.yml:3", detail="add the rule"),)
    failed = RunResult("7", Ending.FINISHED, 2, failures=failures)
    assert run_that_ended(KeptRun("7"), failed, datetime.now(UTC)).reason == "no: add the rule"
