"""A budget is a promise: the test ends with it, whatever hangs, and reports what it did not reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall_dev.proving import ProofReport, Wish, prove, report_text
from rolecall_dev.proving import proof as proof_module
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import Case, CaseProblem, OperatorCheck, Subject
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.staging import NO_LEEWAY, EndState
from tests.unit.proving.small_project import write_project

FOREVER_S = 3600
BUDGET_S = 0.3
# Grace and all waits that are broken off, on a machine that has other things to do.
AT_MOST_S = 8.0
SUBJECT = "Site/blog"
UNDISTURBED = Undisturbed(
    EndState(), NO_LEEWAY, EndState(), (), (), (), True, True, False, {}, (), {}
)
Try = Callable[[Case], Awaitable[list[CaseProblem]]]


class HangingCluster:
    """Whose operator starts, unless it is asked to hang there."""

    client = None

    def __init__(self, *, starts: bool = True) -> None:
        self._starts = starts
        self.was_closed = False

    def install_crds(self, project: Path) -> None:
        assert project.is_dir()

    @asynccontextmanager
    async def operator(self, _: Path, __: Sequence[str] = ()) -> AsyncIterator[tuple[Any, Any]]:
        class Proxy:
            runs = 7

        try:
            if not self._starts:
                await asyncio.sleep(FOREVER_S)
            yield None, Proxy()
        finally:
            self.was_closed = True


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path)
    return tmp_path


async def hang(_: object) -> list[CaseProblem]:
    """As a cluster that answers nothing: not even cleaning up comes to an end."""
    try:
        await asyncio.sleep(FOREVER_S)
    finally:
        await asyncio.sleep(FOREVER_S)
    return []


async def proved(
    project: Path,
    trial_cluster: HangingCluster,
    monkeypatch: pytest.MonkeyPatch,
    tries: dict[str, Try],
    say: Callable[[str], None] = lambda _: None,
) -> tuple[ProofReport, float]:
    """With one check, whose cases are done as `tries` says, in that order."""

    async def undisturbed(
        _: Bench,
        samples: Sequence[CrSample],
        on_known: Callable[[CrSample, Undisturbed], None],
    ) -> None:
        for sample in samples:
            on_known(sample, UNDISTURBED)

    async def schema_of(_: object, __: object) -> dict[str, Any]:
        return {}

    def cases(_: Subject) -> list[Case]:
        return [
            Case("tried", SUBJECT, reported, {}, worth=9.0 - number, is_alone=True)
            for number, reported in enumerate(tries)
        ]

    async def run(_: Bench, __: Subject, case: Case) -> list[CaseProblem]:
        return await tries[case.reported](case)

    monkeypatch.setattr(Bench, "undisturbed", undisturbed)
    monkeypatch.setattr(proof_module, "_schema_of", schema_of)
    monkeypatch.setattr(proof_module, "CHECKS", {"tried": OperatorCheck("tried", "", cases, run)})
    clock = SystemClock()
    began = clock.monotonic()
    report = await prove(
        Wish(project, budget_s=BUDGET_S),
        trial_cluster=trial_cluster,  # type: ignore[arg-type]
        say=say,
    )
    took_s = clock.monotonic() - began
    await asyncio.get_running_loop().shutdown_default_executor()
    return report, took_s


async def passes(_: Case) -> list[CaseProblem]:
    return []


@pytest.mark.slow
async def test_hanging_case_is_ended_and_reported_as_not_reached(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial_cluster = HangingCluster()
    tries: dict[str, Try] = {"first": passes, "second": hang, "third": passes}
    report, took_s = await proved(project, trial_cluster, monkeypatch, tries)
    assert took_s < AT_MOST_S
    assert report.passed == [f"{SUBJECT}: tried: first"]
    assert report.not_reached == [f"{SUBJECT}: tried: second", f"{SUBJECT}: tried: third"]
    assert report.runs == 7
    assert trial_cluster.was_closed
    assert "2 not reached" in report_text(report)


async def test_operator_that_never_starts_ends_with_the_budget(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial_cluster = HangingCluster(starts=False)
    report, took_s = await proved(project, trial_cluster, monkeypatch, {})
    assert took_s < AT_MOST_S
    assert report.not_reached == [f"{SUBJECT}: undisturbed"]
    assert trial_cluster.was_closed


@pytest.mark.slow
async def test_hanging_second_try_is_not_a_finding_and_is_reported(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Case] = []

    async def fails_then_hangs(case: Case) -> list[CaseProblem]:
        tried.append(case)
        return (
            await hang(case) if len(tried) > 1 else [CaseProblem("is gone", "is there", "nothing")]
        )

    said: list[str] = []
    report, took_s = await proved(
        project, HangingCluster(), monkeypatch, {"only": fails_then_hangs}, said.append
    )
    assert f"seen once: {SUBJECT}: tried: only: is gone: nothing" in said, "before the second try"
    assert took_s < AT_MOST_S
    assert len(tried) == 2
    assert not report.findings
    assert not report.not_repeated
    assert report.not_tried_again == [f"{SUBJECT}: tried: only: is gone: nothing"]
    assert "no time for a second try" in report_text(report)


async def test_time_for_second_tries_is_kept_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: Case) -> list[CaseProblem]:
        await asyncio.sleep(0.6 * BUDGET_S)
        return [CaseProblem("is gone", "is there", "nothing")]

    tries: dict[str, Try] = {"slow": fails, "further": passes}
    report, _ = await proved(project, HangingCluster(), monkeypatch, tries)
    assert report.not_reached == [f"{SUBJECT}: tried: further"]
