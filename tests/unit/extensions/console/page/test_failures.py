"""What fails is shown once for each reason, newest first, and its reason where the log may be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.trends_made import (
    LAYOUT,
    NOW,
    WEBSITE,
    failed_row,
    made_trends,
    overview_of,
    rows_of,
)

from rolecall.extending import HeldRun
from rolecall.extensions.console.page import places, views
from rolecall.extensions.console.page.failures import FailureEntries, FailureReasons, grouped
from rolecall.extensions.console.page.rows import CrRow, Live, NextRun
from rolecall.history import FailedTask, KeptRun
from rolecall.workqueue import Key


def kept(outcome: str, minutes_ago: int) -> KeptRun:
    return KeptRun("1", outcome=outcome, ended=NOW - timedelta(minutes=minutes_ago))


def ended_well(row: CrRow) -> CrRow:
    run = KeptRun("8", outcome="succeeded", ended=NOW)
    key = replace(row.key, name=f"good-{row.key.name}")
    return row._replace(key=key, last=HeldRun.of(run))


def text_of(failures: FailureEntries) -> str:
    return views.overview(overview_of(made_trends({WEBSITE: ()}), failures=failures), LAYOUT)


def reasons(*runs: KeptRun, message: str = "") -> FailureReasons:
    """Of CRs of which each has these kept runs."""
    failed = FailedTask("create it", "roles/web/tasks/main.yml:3", message)
    last = KeptRun("9", outcome="failed", failed_task=failed)
    return FailureReasons(lambda _key: last, lambda _key: runs)


def test_storm_of_one_reason_is_one_entry_though_it_names_each_object() -> None:
    storm = [failed_row(f"site-{n:03}", f"no quota left for site-{n:03}", n) for n in range(500)]
    found = grouped(rows_of([*storm, failed_row("other", "unreachable", 0.5)]))
    assert [(each.count, each.newest[0].key.name) for each in found.entries] == [
        (500, "site-000"),
        (1, "other"),
    ]
    assert (found.crs, found.more) == (501, 0)
    text = text_of(found)
    assert "501 objects fail, for 2 reasons." in text and "Of these" not in text
    of_storm = '"/crs?kind=Website&amp;failing=yes&amp;same=%3Dno+quota+left+for+%E2%80%A6"'
    assert "and 497 more" in text and of_storm in text


def test_object_that_is_tried_again_fails_until_that_succeeds() -> None:
    """Else a storm would seem to end while all that failed waits for its retry."""
    late, waits, runs = (failed_row(name, "full", 3) for name in ("late", "waits", "runs"))
    live = Live((NOW - timedelta(minutes=1)).timestamp(), "retry 2", "7", "build", urgency="retry")
    rows = [
        late,
        waits._replace(state="waiting", live=live),
        runs._replace(state="running", live=live),
    ]
    rows += [ended_well(row) for row in rows[1:]]
    failures = grouped(rows_of(rows))
    assert failures.by_state == {"failed": 1, "waiting": 1, "running": 1}
    text = text_of(failures)
    words = " ".join("".join(Seen(text).text).split())
    assert "3 objects fail. Of these, 1 waits for a worker and 1 runs again. All that fail" in words
    assert "waiting to run again since 2026-11-28 15:59:00 UTC" in words
    assert f'<a href="{places.of_run(runs.key, "7")}">running again</a>' in text
    assert 'href="/crs?failing=yes"' in text
    hidden = text_of(grouped(rows_of(rows, [])))
    assert "running again" in hidden and "/runs/7" not in hidden and "retry 2" not in hidden
    assert "/crs?kind=Website&amp;failing=yes&amp;same=%21" in hidden


def test_same_reason_in_two_namespaces_is_one_entry() -> None:
    rows = [failed_row("a", "full", 1, "shop"), failed_row("b", "full", 2, "bank")]
    found = grouped(rows_of(rows, ["shop", "bank"]))
    assert [each.count for each in found.entries] == [2]


def test_only_the_newest_twenty_reasons_are_shown() -> None:
    found = grouped(rows_of([failed_row(f"w{n}", f"reason {n}", n) for n in range(30)]))
    assert [each.newest[0].last_reason for each in found.entries] == [
        f"reason {n}" for n in range(20)
    ]
    assert found.more == 10
    assert "10 more reasons" in text_of(found)


def test_reader_without_the_log_right_sees_no_reason_and_not_how_many_there_are() -> None:
    rows = [
        failed_row(name, f"REASON {name}")._replace(next=NextRun(0.0, "REASON of the next"))
        for name in ("aaaa", "bbbb")
    ]
    found = reasons(kept("failed", 3), message="REASON").whole(grouped(rows_of(rows, [])))
    assert [each.count for each in found.entries] == [2]
    text = text_of(found)
    assert "You may not read the reason" in text
    assert "REASON" not in text and "reasons" not in text and "Fails since" not in text


def test_reason_is_whole_and_says_since_when_and_how_often() -> None:
    message = "line one\n" + "x" * 5000
    runs = [kept("failed", 1), kept("cancelled", 2), kept("failed", 9), kept("succeeded", 20)]
    found = reasons(*runs, message=message)
    failures = found.whole(grouped(rows_of([failed_row("a", "line one")])))
    (entry,) = failures.entries
    assert (entry.since.tries, entry.since.is_known) == (2, True)
    text = text_of(failures)
    assert message in text and "2026-11-28T15:51:00Z" in text
    assert "1 object fails." in text


def test_failure_that_is_older_than_what_is_kept_says_at_least() -> None:
    failures = reasons(kept("failed", 1), kept("lost", 5)).whole(
        grouped(rows_of([failed_row("a", "x")]))
    )
    assert text_of(failures).count("at least") == 2


def test_runs_of_a_failure_are_read_once() -> None:
    read: list[Key] = []

    def kept_runs(key: Key) -> list[KeptRun]:
        read.append(key)
        return [kept("failed", 1)]

    looking = FailureReasons(lambda _key: None, kept_runs)
    rows = rows_of([failed_row("a", "x"), failed_row("b", "y")])
    for _ in range(3):
        looking.whole(grouped(rows))
    assert len(read) == 2


def test_object_that_failed_before_its_run_shows_the_reason_of_its_row() -> None:
    looking = FailureReasons(lambda _key: None, lambda _key: [])
    text = text_of(looking.whole(grouped(rows_of([failed_row("a", "no such role")]))))
    assert "no such role" in text


def test_nothing_fails_says_so() -> None:
    assert "No object fails." in text_of(grouped(rows_of([])))
