"""What reaches the engine of a run that is followed in a thread, and when."""

from __future__ import annotations

from dataclasses import replace

from rolecall.runner import Ending, RunEvent, RunResult
from rolecall.runner.run_task import RunTask, RunThread, play_in_thread
from tests.unit.runner.cases import run_request

BEGIN = RunEvent("playbook_on_task_start", 2, "", "", {"task": "make books"})


async def test_record_of_a_run_has_its_last_task_though_the_loop_does_not_have_it_yet() -> None:
    """Requests of a play's last milliseconds were recorded as those of the task before."""
    noted: list[RunEvent] = []
    on_loop: list[RunEvent] = []
    at_the_end: list[tuple[int, int]] = []

    def play(thread: RunThread) -> RunResult:
        thread.report(BEGIN)
        at_the_end.append((len(noted), len(on_loop)))
        return RunResult("1", Ending.FINISHED, 0)

    request = replace(run_request(), note_event=noted.append)
    run = RunTask(lambda run: play_in_thread(run, request, on_loop.append, play))
    await run.result()

    assert at_the_end == [(1, 0)]
    assert noted == on_loop == [BEGIN]
