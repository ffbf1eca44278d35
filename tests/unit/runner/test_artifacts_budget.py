"""All artifacts together: many CRs of one tenant do not fill the disk, and no run in flight is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rolecall.runner.artifacts import size_of
from rolecall.runner.artifacts_budget import ArtifactsBudget

KILOBYTE = 1000


def run(root: Path, cr: str, number: int, *, size: int = KILOBYTE, in_flight: bool = False) -> Path:
    folder = root / "example.com" / "v1" / "App" / "shop" / cr / "artifacts" / str(number)
    (folder / "job_events").mkdir(parents=True)
    (folder / "job_events" / "1-x.json").write_bytes(b"x" * size)
    if not in_flight:
        (folder / "rc").touch()
    os.utime(folder, (number, number))
    return folder


def left(root: Path) -> list[str]:
    return sorted(f"{path.parts[-3]}/{path.name}" for path in root.glob("*/*/*/*/*/artifacts/*"))


def test_oldest_runs_of_all_crs_go_and_the_newest_of_each_stays(tmp_path: Path) -> None:
    for number in range(1, 6):
        for cr in ("a", "b"):
            newest = run(tmp_path, cr, number)
    run(tmp_path, "quiet", 1)
    ArtifactsBudget(tmp_path, 6 * size_of(newest)).add(newest)
    assert left(tmp_path) == ["a/4", "a/5", "b/4", "b/5", "quiet/1"]


def test_many_crs_of_one_tenant_stay_within_the_budget(tmp_path: Path) -> None:
    budget = ArtifactsBudget(tmp_path, 20 * size_of(run(tmp_path, "cr-0", 0)))
    for number in range(1, 101):
        budget.add(run(tmp_path, f"cr-{number}", number))
        assert len(left(tmp_path)) <= 20
    assert len(left(tmp_path)) >= 15
    assert f"cr-{100}/100" in left(tmp_path)


def test_run_in_flight_stays_whatever_it_takes(tmp_path: Path) -> None:
    run(tmp_path, "slow", 1, size=50 * KILOBYTE, in_flight=True)
    ended = run(tmp_path, "a", 2)
    ArtifactsBudget(tmp_path, KILOBYTE).add(ended)
    assert left(tmp_path) == ["slow/1"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    kept = run(outside, "other", 1)
    ended = run(root, "a", 2, size=5 * KILOBYTE)
    (ended.parent / "latest").symlink_to(kept)
    (root / "elsewhere").symlink_to(outside)
    ArtifactsBudget(root, KILOBYTE).add(ended)
    assert kept.is_dir() and not ended.exists()


def test_what_was_removed_is_said_once_for_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1, 30):
        newest = run(tmp_path, "a", number)
    ArtifactsBudget(tmp_path, 10 * KILOBYTE).add(newest)
    (reported,) = caplog.records
    assert "--keep-total-bytes" in reported.getMessage()
