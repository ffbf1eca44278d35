"""What runs used is there after a restart, in bounded files, and each run counts once."""

from __future__ import annotations

import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rolecall.extensions.usage import (
    MOST_DAYS,
    USAGE_FOLDER,
    CrOfRuns,
    Usage,
    UsageLedger,
    read_usage,
)
from rolecall.extensions.usage import ledger as ledger_module

NOON = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)
SHOP = CrOfRuns("example.com/v1", "Website", "shops", "shop")
BLOG = CrOfRuns("example.com/v1", "Website", "blogs", "blog")
RUN = Usage(runs=1, failed=0, seconds=0.5, cpu_s=0.2, requests=4, owned=2)
DAY = timedelta(days=1)


def used(root: Path, since: datetime) -> dict[CrOfRuns, Usage]:
    return read_usage(root, since)[0]


def test_what_was_added_is_read_by_another_process(tmp_path: Path) -> None:
    UsageLedger(tmp_path).add([(SHOP, RUN), (SHOP, RUN), (BLOG, RUN)], NOON)
    UsageLedger(tmp_path).add([(BLOG, Usage(runs=1, failed=1, requests=1))], NOON)
    found = used(tmp_path, NOON - DAY)
    assert found[SHOP] == Usage(2, 0, 1.0, 0.4, 8, 2)
    assert found[BLOG] == Usage(2, 1, 0.5, 0.2, 5, 2), (
        "of a failed run it is not known what is owned"
    )
    for path in (tmp_path / USAGE_FOLDER).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_hour_in_which_the_time_begins_counts_whole_and_is_reported(tmp_path: Path) -> None:
    ledger = UsageLedger(tmp_path)
    for hours in (3, 2, 1, 0):
        ledger.add([(SHOP, RUN)], NOON - timedelta(hours=hours))
    found, began = read_usage(tmp_path, NOON - timedelta(hours=2))
    assert found[SHOP].runs == 3
    assert began == NOON.replace(hour=10, minute=0)


def test_folding_changes_no_sum_and_bounds_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_FOLD_BYTES", 2000)
    ledger = UsageLedger(tmp_path)
    for minute in range(300):
        ledger.add([(SHOP, RUN), (BLOG, RUN)], NOON + timedelta(minutes=minute))
    (file,) = (tmp_path / USAGE_FOLDER).glob("*.jsonl")
    assert file.stat().st_size < 8000
    found = used(tmp_path, NOON - DAY)
    assert found[SHOP].runs == found[BLOG].runs == 300
    assert found[SHOP].cpu_s == pytest.approx(60)
    assert used(tmp_path, NOON + timedelta(hours=4, minutes=1))[SHOP].runs == 90


def test_folded_to_days_where_hours_would_be_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_FOLD_BYTES", 1000)
    monkeypatch.setattr(ledger_module, "_MOST_BYTES_BY_HOUR", 500)
    ledger = UsageLedger(tmp_path)
    for hour in range(24):
        at = NOON.replace(hour=hour)
        ledger.add([(SHOP, RUN), (BLOG, RUN)], at)
    assert used(tmp_path, NOON.replace(hour=0))[SHOP].runs == 24


def test_days_that_are_over_are_folded_and_old_ones_go(tmp_path: Path) -> None:
    for day in range(MOST_DAYS + 5):
        ledger = UsageLedger(tmp_path)
        for hour in (8, 9):
            ledger.add([(SHOP, RUN)], NOON.replace(hour=hour) + day * DAY)
    last = NOON + (MOST_DAYS + 4) * DAY
    files = sorted((tmp_path / USAGE_FOLDER).glob("*.jsonl"))
    assert len(files) == MOST_DAYS
    assert [len(file.read_text().splitlines()) for file in files[-3:]] == [1, 2, 2]
    assert used(tmp_path, last - 10 * DAY)[SHOP].runs == 22


def test_oldest_files_go_where_all_are_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_MOST_BYTES", 1000)
    for day in range(20):
        UsageLedger(tmp_path).add([(SHOP, RUN)], NOON + day * DAY)
    kept = list((tmp_path / USAGE_FOLDER).glob("*.jsonl"))
    assert 2 <= len(kept) <= 7
    assert sum(file.stat().st_size for file in kept) < 1300


def test_two_engines_on_one_folder_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_FOLD_BYTES", 1000)

    def work() -> None:
        ledger = UsageLedger(tmp_path)
        for _ in range(50):
            ledger.add([(SHOP, RUN)], NOON)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert used(tmp_path, NOON - DAY)[SHOP].runs == 200


@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": 1}', "null", "NaN", "\0", "[" * 10000])
def test_invalid_line_is_ignored(tmp_path: Path, text: str) -> None:
    UsageLedger(tmp_path).add([(SHOP, RUN)], NOON)
    (file,) = (tmp_path / USAGE_FOLDER).glob("*.jsonl")
    file.write_text(f"{text}\n{file.read_text()}")
    (tmp_path / USAGE_FOLDER / "notes.jsonl").write_text("of a person")
    assert used(tmp_path, NOON - DAY) == {SHOP: RUN}


def test_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / USAGE_FOLDER).mkdir()
    (tmp_path / USAGE_FOLDER / f"{NOON.date()}.jsonl").symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic link"):
        UsageLedger(tmp_path).add([(SHOP, RUN)], NOON)
    assert not elsewhere.exists()
