"""What a run took of the CPUs is known when its result is, whichever way it went, however it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.history import read_run
from rolecall.runner import Ending
from rolecall.watches import Play
from tests.fixtures.eventually import eventually_async
from tests.play.plays import Workspace, started

BURNS = """\
- name: burn in a process of its own
  ansible.builtin.command:
    argv:
      - "{{ ansible_playbook_python }}"
      - -c
      - "import time\\nwhile time.process_time() < 0.7: pass"
"""
PAUSES = """\
- name: rest
  ansible.builtin.pause:
    seconds: 3600
"""


def role(folder: Path, tasks: str) -> Play:
    path = folder / "role" / "tasks" / "main.yml"
    path.parent.mkdir(parents=True)
    path.write_text(tasks)
    return Play(path.parents[1], is_role=True)


@pytest.mark.parametrize("way", [pytest.param("stock", marks=pytest.mark.nightly), "warm"])
async def test_run_reports_what_it_took_with_all_that_it_waited_for(
    tmp_path: Path, way: str
) -> None:
    async with started(Workspace(tmp_path, way), role(tmp_path, BURNS)) as (handle, _):
        result = await handle.result_before_tidying()
        await handle.result()
    assert result.way == way
    assert result.succeeded, result.failures
    assert result.cpu_s is not None
    assert 0.7 < result.cpu_s < 2 * result.seconds + 1
    assert result.artifacts is not None
    assert read_run(result.artifacts).cpu_s == pytest.approx(result.cpu_s, abs=0.001)


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["stock", "warm"])
async def test_run_that_is_ended_is_not_free(tmp_path: Path, way: str) -> None:
    async with started(Workspace(tmp_path, way), role(tmp_path, PAUSES)) as (handle, events):
        await eventually_async(lambda: [each for each in events if "task_start" in each.name])
        handle.cancel("a newer generation came")
        result = await handle.result()
    assert result.ending is Ending.CANCELLED
    assert result.cpu_s is not None and result.cpu_s > 0.02
