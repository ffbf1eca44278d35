"""A mended file brings back what failed in it, and nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.extensions.changed_files import ChangedFiles
from rolecall.gvk import Gvk
from rolecall.history import FailedTask, KeptRun
from rolecall.reconcile import Outcome
from rolecall.watches import Play, Watch
from rolecall.workqueue import Cause, Key, Turn, Urgency

SITE, VOLUME = Gvk("demo.example.com", "v1", "Website"), Gvk("demo.example.com", "v1", "Volume")
FAILED = Outcome(error="it failed", ran={"run": "1"})
SUCCEEDED = Outcome(ran={"run": "1"})


class Project:
    """Two roles and a playbook's folder, all of them old."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watches = {
            SITE: Watch(SITE, Play(folder / "roles/web", is_role=True)),
            VOLUME: Watch(VOLUME, Play(folder / "plays/volume.yml", is_role=False)),
        }
        self.files = {
            f"{what} file": self.write(f"{what}.yaml") for what in ("watches", "conversions")
        }
        for path in ("roles/web/tasks/main.yml", "roles/other/tasks/main.yml", "plays/volume.yml"):
            self.write(path)
        self.began = datetime.now(UTC) + timedelta(seconds=1)  # later than all of these
        self.runs: dict[Key, KeptRun] = {}
        self.retried: list[tuple[str, str]] = []
        self.changed_files = ChangedFiles(
            self.watches, self.files, self.runs.get, self.retry, SystemClock()
        )

    def write(self, path: str, *, after: datetime | None = None) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
        if after is not None:
            at = (after + timedelta(seconds=1)).timestamp()
            os.utime(file, (at, at))
        return file

    def retry(self, key: Key, cause: Cause) -> None:
        self.retried.append((key.name, cause.text))

    def fails(self, key: Key, *, cause: str = "start", place: str = "") -> None:
        """A run of this key failed, which took ten seconds."""
        failed = FailedTask("do it", place, "no") if place else None
        ended = self.began + timedelta(seconds=10)
        self.runs[key] = KeptRun(
            "1", began=self.began, ended=ended, cause=cause, outcome="failed", failed_task=failed
        )
        self.changed_files.turn_over(Turn(key, Urgency.EDIT), FAILED)

    async def looks(self) -> list[tuple[str, str]]:
        self.retried.clear()
        await self.changed_files.look()
        return self.retried


@pytest.fixture(autouse=True)
async def no_threads_left() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


A, B, V = Key(SITE, "shop", "a"), Key(SITE, "shop", "b"), Key(VOLUME, "shop", "v")


async def test_what_failed_in_a_changed_role_is_tried_again_once(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    project.fails(A)
    project.fails(B)
    project.fails(V)
    assert await project.looks() == []

    project.write("roles/web/tasks/main.yml", after=project.began)

    cause = "changed file roles/web/tasks/main.yml"
    assert sorted(await project.looks()) == [("a", cause), ("b", cause)]
    assert await project.looks() == []
    assert caplog.text.count("changed file, so what failed is tried again") == 1


async def test_what_succeeded_since_or_is_gone_is_left_alone(project: Project) -> None:
    for key, outcome in ((A, SUCCEEDED), (B, Outcome(forget=True))):
        project.fails(key)
        project.changed_files.turn_over(Turn(key, Urgency.EDIT), outcome)
    project.write("roles/web/tasks/main.yml", after=project.began)

    assert await project.looks() == []


async def test_role_that_the_failed_task_is_of_counts_too(project: Project) -> None:
    project.fails(A, place="roles/other/tasks/main.yml:12")
    project.write("roles/other/templates/site.j2", after=project.began)

    assert await project.looks() == [("a", "changed file roles/other/templates/site.j2")]


async def test_playbook_and_what_lies_beside_it_count(project: Project) -> None:
    project.fails(V)
    project.write("plays/unrelated.txt", after=project.began)
    assert await project.looks() == []

    project.write("plays/group_vars/all.yml", after=project.began)

    assert await project.looks() == [("v", "changed file plays/group_vars/all.yml")]


async def test_role_that_was_missing_is_seen_when_it_comes(project: Project) -> None:
    missing = Play(project.folder / "roles/missing", is_role=True)
    project.watches[SITE] = replace(project.watches[SITE], play=missing)
    project.fails(A)
    project.write("roles/missing/tasks/main.yml", after=project.began)

    assert await project.looks() == [("a", "changed file roles/missing/tasks/main.yml")]


async def test_role_that_writes_into_itself_is_not_tried_for_ever(project: Project) -> None:
    project.fails(A)
    project.write("roles/web/files/made", after=project.began)  # in the middle of the run
    ((_, cause),) = await project.looks()

    project.fails(A, cause=cause)

    assert await project.looks() == []


@pytest.mark.parametrize("name", [".main.yml.swp", "main.yml~", "__pycache__/x.pyc"])
async def test_what_editors_and_python_leave_does_not_count(project: Project, name: str) -> None:
    project.fails(A)
    project.write(f"roles/web/tasks/{name}", after=project.began)

    assert await project.looks() == []


@pytest.mark.parametrize("what", ["watches", "conversions"])
async def test_changed_file_of_the_start_is_reported_once_and_taken_at_no_time(
    project: Project, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    await project.looks()
    assert "restart to take it" not in caplog.text
    project.write(f"{what}.yaml", after=project.began)

    await project.looks()
    await project.looks()

    assert caplog.text.count(f"{what} file changed; restart to take it") == 1


async def test_nothing_is_looked_at_while_nothing_failed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: Key) -> KeptRun:
        raise AssertionError

    monkeypatch.setattr(project.changed_files, "_last_run", never)
    project.write("roles/web/tasks/main.yml", after=project.began)

    assert await project.looks() == []


@pytest.mark.parametrize(
    "left", ["__pycache__/says.cpython-311.pyc", ".swp", "says.py~", "old.pyc"]
)
async def test_what_the_run_itself_left_beside_a_plugin_changes_nothing(
    project: Project, left: str
) -> None:
    plugin = project.write("roles/web/library/says.py")
    project.fails(A)
    library = plugin.parent
    at = (project.began + timedelta(seconds=1)).timestamp()
    project.write(f"roles/web/library/{left}")
    os.utime(library, (at, at))
    in_future = (project.began + timedelta(seconds=2)).timestamp()
    os.utime(library / left.partition("/")[0], (in_future, in_future))
    assert await project.looks() == []
