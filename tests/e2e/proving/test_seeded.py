"""`prove` on small roles: each seeded bug is found by its check, and right roles give no finding.

Each check gets a project of its own: the roles with a bug that it shall find, and a right one or more.
All projects share a cluster, some at a time: a test of an operator waits most of its time. Where a bug
is found by several checks, the first is tried. `SEEDED=all` tries all of them and gives each right role
each check, and `ALL_CHECKS=1` with it gives those with a bug each check, too, which takes an hour.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from rolecall_dev.proving import CHECKS, ProofReport, Wish, prove
from rolecall_dev.staging import TrialCluster
from tests.e2e.engine import ROOT
from tests.e2e.proving.small_roles import SmallRole, read_roles, write_project

_SEEDED, _CORRECT = read_roles("seeded"), read_roles("correct")
_IS_WHOLE, _ALL = os.environ.get("SEEDED") == "all", "ALL_CHECKS" in os.environ
_AT_A_TIME = 2
# Right roles, each with the checks that a bug in one like it would be found by.
_QUIET = {
    "at_rest": ("kept_password", "own_status"),
    "drift": ("deployed",),
    "errors": ("own_status",),
    "killed": ("kept_password",),
    "deletion": ("finalized",),
    "edits": ("one_for_each", "plain"),
    "rights": ("own_status",),
    "neighbours": ("plain", "finalized"),
}
_GUIDE = ROOT / "docs" / "guides" / "prove-it" / "bugs.md"


@dataclass(frozen=True, slots=True)
class Trial:
    """One project and the checks that it gets."""

    name: str
    roles: Sequence[SmallRole]
    checks: Sequence[str]


def test_each_seeded_role_says_what_finds_its_bug_or_why_nothing_does() -> None:
    for role in _SEEDED:
        assert bool(role.found_by) != bool(role.why_not), role.name
        assert set(role.found_by) <= CHECKS.keys(), role.name


def test_guide_lists_each_seeded_bug_and_who_finds_it() -> None:
    guide = _GUIDE.read_text()
    assert not [role.guide_row for role in _SEEDED if role.guide_row not in guide]
    found = sum(bool(role.found_by) for role in _SEEDED)
    assert f"{len(_SEEDED)} roles with one bug each, {found} of them found" in guide


@pytest.mark.nightly
async def test_each_seeded_bug_is_found_and_right_roles_are_quiet(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collections = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", collections)
    free = asyncio.Semaphore(_AT_A_TIME)
    async with TrialCluster.on(cluster) as trial_cluster:

        async def run(trial: Trial) -> ProofReport:
            async with free:
                return await prove(
                    Wish(write_project(tmp_path / trial.name, trial.roles), checks=trial.checks),
                    trial_cluster=trial_cluster,
                )

        reports = await asyncio.gather(*map(run, _trials()))
    await asyncio.get_running_loop().shutdown_default_executor()
    found = {(it.kind, it.check) for report in reports for it in report.findings}
    right = {role.gvk.kind for role in _CORRECT}
    false = [
        f"{it.case}: {it.reported}\n{it.found}"
        for report in reports
        for it in report.findings
        if it.kind in right
    ]
    missed = [
        f"{role.name}: not found by {check}"
        for role in _SEEDED
        for check in _checks_of(role)
        if (role.gvk.kind, check) not in found
    ]
    print(_table(found, len(false), reports))
    assert not [line for report in reports for line in report.undecided]
    assert not missed, "\n".join(missed)
    assert not false, "\n".join(false)


def _checks_of(role: SmallRole) -> tuple[str, ...]:
    return role.found_by if _IS_WHOLE else role.found_by[:1]


def _trials() -> list[Trial]:
    """Those that take longest first."""
    if _ALL:
        return [Trial(role.name, [role], []) for role in (*_CORRECT, *_SEEDED)]
    trials = [Trial(role.name, [role], []) for role in _CORRECT] if _IS_WHOLE else []
    for check in CHECKS:
        roles = [role for role in _SEEDED if check in _checks_of(role)]
        quiet = [role for role in _CORRECT if role.name in _QUIET.get(check, ())]
        if roles:
            trials.append(Trial(check, [*roles, *([] if _IS_WHOLE else quiet)], [check]))
    return trials


def _table(found: set[tuple[str, str]], false_alarms: int, reports: Sequence[ProofReport]) -> str:
    rows = []
    for role in _SEEDED:
        by = sorted(check for kind, check in found if kind == role.gvk.kind)
        rows.append(f"{role.name:34} {', '.join(by) or role.why_not or 'MISSED'}")
    wanted = [role for role in _SEEDED if role.found_by]
    caught = [role for role in wanted if any(kind == role.gvk.kind for kind, _ in found)]
    cases, runs = sum(it.cases for it in reports), sum(it.runs for it in reports)
    rows.append(
        f"found {len(caught)} of {len(wanted)} ({len(_SEEDED)} seeded);"
        f" {false_alarms} false alarms of {len(_CORRECT)} right roles; {cases} cases, {runs} runs"
    )
    return "\n".join(rows)
