"""Runs as their folders describe them, whichever engine wrote those and however far that came."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rolecall.history import (
    RUN_FILE,
    FailedTask,
    KeptRun,
    Process,
    kept_crs,
    read_run,
    roots_of,
    this_process,
    with_id,
    write_run,
)

NOON = datetime(2026, 11, 22, 12, 0, 0, 5000, tzinfo=UTC)
PLACE = "demo.example.com/v1/Website/shop/blog/artifacts"


def kept(root: Path, run: str, **fields: object) -> KeptRun:
    folder = root / PLACE / run
    folder.mkdir(parents=True)
    kept = replace(
        KeptRun(run, began=NOON, outcome="succeeded", engine=this_process(), folder=folder),
        **fields,  # type: ignore[arg-type]
    )
    write_run(kept)
    return kept


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = kept(
        tmp_path,
        "1",
        kind="Website",
        generation=4,
        cause="edit of generation 4",
        ended=NOON + timedelta(seconds=2),
        outcome="failed",
        changed_tasks=("roles/web/tasks/main.yml:3: write it",),
        failed_task=FailedTask("write it", "roles/web/tasks/main.yml:3", "no such module"),
        seconds=2.0,
    )

    assert read_run(run.folder) == run
    assert stat.S_IMODE((run.folder / RUN_FILE).stat().st_mode) == 0o600
    assert json.loads((run.folder / RUN_FILE).read_text())["began"] == "2026-11-22T12:00:00.005Z"


def test_runs_come_newest_first_and_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    for hours, run in enumerate(("471", "4711", "52")):
        kept(tmp_path, run, began=NOON + timedelta(hours=hours))
    (cr,) = kept_crs(tmp_path, "website", "blog")
    runs = cr.runs()

    assert [run.run for run in runs] == ["52", "4711", "471"]
    assert [run.run for run in with_id(runs, "4711")] == ["4711"]
    assert [run.run for run in with_id(runs, "471")] == ["471"]
    assert [run.run for run in with_id(runs, "47")] == ["4711", "471"]
    assert (cr.api_version, cr.kind, cr.namespace) == ("demo.example.com/v1", "Website", "shop")


def test_run_of_a_killed_engine_ended_with_it(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    dead = replace(this_process(), pid=child.pid)
    run = kept(tmp_path, "1", outcome="running", engine=dead)

    found = read_run(run.folder)

    assert (found.outcome, found.reason) == ("lost", "ended when the operator stopped")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux reports when it began")
def test_a_later_process_with_the_same_number_is_another_engine(tmp_path: Path) -> None:
    run = kept(tmp_path, "1", outcome="running", engine=replace(this_process(), began="1"))

    assert read_run(run.folder).outcome == "lost"


def test_run_of_a_living_engine_or_of_another_machine_goes_on(tmp_path: Path) -> None:
    mine = kept(tmp_path, "1", outcome="running")
    other = kept(tmp_path, "2", outcome="running", engine=Process("another", 1, "1"))

    assert read_run(mine.folder).outcome == "running"
    assert read_run(other.folder).outcome == "running"


def test_only_the_newest_run_of_a_cr_can_be_running(tmp_path: Path) -> None:
    pod = Process("another", 1, "1")
    kept(tmp_path, "1", outcome="running", engine=pod)
    kept(tmp_path, "2", outcome="running", engine=pod, began=NOON + timedelta(hours=1))

    (cr,) = kept_crs(tmp_path)

    assert [run.outcome for run in cr.runs()] == ["running", "lost"]


def test_run_goes_on_though_another_engine_was_refused_meanwhile(tmp_path: Path) -> None:
    kept(tmp_path, "1", outcome="running")
    kept(tmp_path, "2", outcome="failed", ending="NotStarted", began=NOON + timedelta(seconds=1))

    (cr,) = kept_crs(tmp_path)

    assert [run.outcome for run in cr.runs()] == ["failed", "running"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', "null", "[" * 100_000, '{"outcome": 3, "began": "now"}']
)
def test_broken_file_is_as_if_it_were_not_there(tmp_path: Path, text: str) -> None:
    run = kept(tmp_path, "1")
    (run.folder / RUN_FILE).write_text(text)
    (run.folder / "status").write_text("successful")

    found = read_run(run.folder)

    assert found.run == "1"
    assert found.outcome in ("succeeded", "running")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("successful", "succeeded"),
        ("failed", "failed"),
        ("timeout", "failed"),
        ("canceled", "cancelled"),
        ("", "lost"),
        ("nonsense", "lost"),
    ],
)
def test_artifacts_without_the_file_report_outcome_and_times(
    tmp_path: Path, status: str, outcome: str
) -> None:
    folder = tmp_path / PLACE / "1"
    folder.mkdir(parents=True)
    for name, text, at in (
        ("command", "{}", 100),
        ("stdout", "PLAY", 104),
        ("status", status, 105),
    ):
        (folder / name).write_text(text)
        os.utime(folder / name, (at, at))

    found = read_run(folder)

    assert found.outcome == outcome
    assert found.began == datetime.fromtimestamp(100, UTC)
    assert found.stdout.read_text() == "PLAY"
    if outcome != "lost":
        assert found.seconds == 5.0


def test_stray_files_are_no_trouble(tmp_path: Path) -> None:
    kept(tmp_path, "1")
    (tmp_path / PLACE / "stray").write_text("")
    (tmp_path / PLACE / "latest").symlink_to("1")

    (cr,) = kept_crs(tmp_path)

    assert [run.run for run in cr.runs()] == ["1"]


def test_run_with_only_a_folder_is_not_reported_as_lost(tmp_path: Path) -> None:
    kept(tmp_path, "1")
    (tmp_path / PLACE / "2").mkdir()

    (cr,) = kept_crs(tmp_path)

    assert [run.run for run in cr.runs()] == ["1"], "its play is being started"


@pytest.mark.parametrize(
    ("place", "api_version", "namespace"),
    [
        ("demo.example.com/v1/Website/shop/blog", "demo.example.com/v1", "shop"),
        ("demo.example.com/v1alpha1/Website/blog", "demo.example.com/v1alpha1", ""),
        ("v1/ConfigMap/shop/blog", "v1", "shop"),
        ("v1/Namespace/blog", "v1", ""),
    ],
)
def test_folder_says_whose_runs_it_has(
    tmp_path: Path, place: str, api_version: str, namespace: str
) -> None:
    (tmp_path / place / "artifacts").mkdir(parents=True)

    (cr,) = kept_crs(tmp_path)

    assert (cr.api_version, cr.namespace, cr.name) == (api_version, namespace, "blog")


def test_further_clusters_have_roots_of_their_own(tmp_path: Path) -> None:
    kept(tmp_path, "1")
    kept(tmp_path / ".clusters" / "other", "2")

    roots = roots_of(tmp_path)

    assert [[run.run for cr in kept_crs(root) for run in cr.runs()] for root in roots] == [
        ["1"],
        ["2"],
    ]
    assert roots_of(tmp_path / "nowhere") == [tmp_path / "nowhere"]
    assert kept_crs(tmp_path / "nowhere") == []
