"""The last run of each CR is held as a few bytes that say all that is shown of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.extending import HeldRun
from rolecall.gvk import Gvk
from rolecall.history import FailedTask, KeptRun
from rolecall.workqueue import Key

KEY = Key(Gvk("demo.example.com", "v1", "Website"), "shop", "a")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
FAILED = FailedTask("write", "roles/web/tasks/main.yml:2", "disk full")
RUNS = {
    "good": KeptRun("7", generation=3, cause="edit", outcome="succeeded", ending="Finished"),
    "timed": KeptRun(
        "7", began=NOON, ended=NOON, outcome="succeeded", seconds=1.5, ending="Finished"
    ),
    "failed": KeptRun("7", outcome="failed", reason="x", ending="TimedOut", failed_task=FAILED),
    "of a finalizer": KeptRun("7", outcome="lost", is_finalizer=True, cause="a\ud800\u00e4"),
}


@pytest.mark.parametrize("which", RUNS)
def test_held_run_says_what_the_run_said(which: str) -> None:
    run = RUNS[which]
    whole = HeldRun.of(run).whole(KEY, Path("/root"))
    names: tuple[str, ...] = (
        "run",
        "generation",
        "cause",
        "began",
        "ended",
        "outcome",
        "seconds",
        "ending",
    )
    names = (*names, "reason", "failed_task", "is_finalizer")
    assert {each: getattr(whole, each) for each in names} == {
        each: getattr(run, each) for each in names
    }
    assert (whole.kind, whole.namespace, whole.name) == ("Website", "shop", "a")
    assert whole.folder == Path("/root/demo.example.com/v1/Website/shop/a/artifacts/7")


def test_same_run_is_held_as_the_same_bytes() -> None:
    """Else each look at it would be a change."""
    assert HeldRun.of(RUNS["failed"]) == HeldRun.of(KeptRun(**_values(RUNS["failed"])))


def test_good_run_takes_little() -> None:
    run = KeptRun("1" * 19, generation=1, cause="creation", began=NOON, ended=NOON, seconds=0.5)
    assert HeldRun.of(KeptRun(**{**_values(run), "outcome": "succeeded"})).__sizeof__() < 130


def test_long_texts_are_cut() -> None:
    failed = FailedTask(*["x" * 100_000] * 3)
    run = KeptRun("1", outcome="failed", reason="y" * 100_000, failed_task=failed)
    assert len(HeldRun.of(run)) < 20_000


def test_what_a_run_did_can_be_left_out() -> None:
    facts = HeldRun.of(RUNS["failed"]).without_content().facts
    assert (facts.outcome, facts.run) == ("failed", "7")
    assert (facts.cause, facts.reason, tuple(facts.failed_task)) == ("", "", ())


def _values(run: KeptRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in KeptRun.__dataclass_fields__}
