from __future__ import annotations

import os
from pathlib import Path

import pytest

from rolecall.runner.artifacts import Rotation, point_latest, rotate

DAY_S = 86400.0
NOW = 100 * DAY_S


def run_folders(artifacts: Path, *ages_days: float, size: int = 0) -> None:
    """Folders `r0`, `r1`, ... that finished so many days ago."""
    for index, age in enumerate(ages_days):
        folder = artifacts / f"r{index}"
        (folder / "job_events").mkdir(parents=True)
        (folder / "job_events" / "1.json").write_bytes(b"x" * size)
        finished = NOW - age * DAY_S
        os.utime(folder, (finished, finished))


def left(artifacts: Path) -> set[str]:
    return {path.name for path in artifacts.iterdir() if not path.is_symlink()}


def test_the_newest_runs_stay(tmp_path: Path) -> None:
    run_folders(tmp_path, 0, 1, 2, 3)
    assert set(rotate(tmp_path, "r0", Rotation(keep=2), NOW)) == {"r2", "r3"}
    assert left(tmp_path) == {"r0", "r1"}


def test_zero_keeps_all(tmp_path: Path) -> None:
    run_folders(tmp_path, 0, 1, 2)
    assert rotate(tmp_path, "r0", Rotation(keep=0), NOW) == []


@pytest.mark.parametrize("keep", [1, 2])
def test_the_latest_link_is_neither_counted_nor_in_the_way(tmp_path: Path, keep: int) -> None:
    for run in range(5):
        (tmp_path / f"run{run}").mkdir()
        os.utime(tmp_path / f"run{run}", (run, run))
        point_latest(tmp_path, f"run{run}")
        rotate(tmp_path, f"run{run}", Rotation(keep=keep), NOW)
    assert left(tmp_path) == {f"run{run}" for run in range(5 - keep, 5)}
    assert (tmp_path / "latest").resolve() == tmp_path / "run4"


def test_the_current_run_stays_whatever_its_age(tmp_path: Path) -> None:
    run_folders(tmp_path, 50, 0, 1)
    rotate(tmp_path, "r0", Rotation(keep=1, keep_days=3, keep_bytes=1), NOW)
    assert left(tmp_path) == {"r0"}


def test_old_runs_go_whatever_their_number(tmp_path: Path) -> None:
    run_folders(tmp_path, 0, 2, 4, 6)
    rotate(tmp_path, "r0", Rotation(keep=20, keep_days=5), NOW)
    assert left(tmp_path) == {"r0", "r1", "r2"}


def test_the_oldest_runs_go_when_bytes_are_over(tmp_path: Path) -> None:
    run_folders(tmp_path, 0, 1, 2, 3, size=100_000)
    rotate(tmp_path, "r0", Rotation(keep_bytes=250_000), NOW)
    assert left(tmp_path) == {"r0", "r1"}


def test_links_are_not_followed_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    artifacts = tmp_path / "artifacts"
    run_folders(artifacts, 0, 1)
    (artifacts / "link").symlink_to(outside)
    (artifacts / "r1" / "link").symlink_to(outside)
    rotate(artifacts, "r0", Rotation(keep=1, keep_bytes=1), NOW)
    assert (outside / "precious").exists()
    assert left(artifacts) == {"r0"}


def test_latest_replaces_whatever_was_there(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    (tmp_path / ".latest-a").write_text("of a crashed engine")
    for run in ("a", "b"):
        point_latest(tmp_path, run)
        assert (tmp_path / "latest").readlink() == Path(run)
    assert not list(tmp_path.glob(".latest*"))
