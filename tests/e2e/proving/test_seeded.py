"""`prove` on small roles: each seeded bug is found by its check, and right roles give no finding.

Each check gets a project of its own: the roles with a bug that it shall find, and a right one or more.
All projects share a cluster, two at a time. That takes minutes, so it is done where `SEEDED=1` asks for
it; `ALL_CHECKS=1` beside it gives each role every check, which is slower still.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from rolecall_dev.proving import CHECKS, ProofReport, prove
from rolecall_dev.staging import TrialCluster
from tests.e2e.engine import ROOT
from tests.e2e.proving.small_roles import SmallRole, read_roles, write_project

_SEEDED, _CORRECT = read_roles("seeded"), read_roles("correct")
_ALL = bool(os.environ.get("ALL_CHECKS"))
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


def test_each_seeded_role_says_who_finds_its_bug_or_why_nobody_does() -> None:
    for role in _SEEDED:
        assert bool(role.found_by) != bool(role.why_not), role.name
        assert set(role.found_by) <= CHECKS.keys(), role.name


@pytest.mark.skipif("SEEDED" not in os.environ, reason="takes minutes: SEEDED=1")
async def test_each_seeded_bug_is_found_and_right_roles_are_quiet(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collections = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", collections)
    free = asyncio.Semaphore(_AT_A_TIME)
    async with TrialCluster.on(cluster) as trial_cluster:

        async def run(check: str) -> ProofReport:
            async with free:
                return await prove(
                    write_project(tmp_path / check, _roles_of(check)),
                    trial_cluster=trial_cluster,
                    checks=[check],
                )

        checks = [check for check in CHECKS if _roles_of(check)]
        reports = dict(zip(checks, await asyncio.gather(*map(run, checks)), strict=True))
    await asyncio.get_running_loop().shutdown_default_executor()
    found = {
        (finding.kind, check) for check, report in reports.items() for finding in report.findings
    }
    rows = [
        _row(role, {check for kind, check in found if kind == role.gvk.kind}) for role in _SEEDED
    ]
    print("\n".join(rows))
    broken_off = [line for report in reports.values() for line in report.undecided]
    assert not broken_off, "\n".join(broken_off)
    missed = [
        f"{role.name}: not found by {check}"
        for role in _SEEDED
        for check in role.found_by
        if (role.gvk.kind, check) not in found
    ]
    assert not missed, "\n".join(missed)
    false = [
        f"{finding.case}: {finding.told}\n{finding.found}"
        for report in reports.values()
        for finding in report.findings
        if finding.kind in {role.gvk.kind for role in _CORRECT}
    ]
    assert not false, "\n".join(false)


def _roles_of(check: str) -> list[SmallRole]:
    if _ALL:
        return [*_SEEDED, *_CORRECT]
    quiet = [role for role in _CORRECT if role.name in _QUIET.get(check, ())]
    return [*(role for role in _SEEDED if check in role.found_by), *quiet]


def _row(role: SmallRole, found_by: set[str]) -> str:
    return f"{role.name:28} {', '.join(sorted(found_by)) or role.why_not or 'MISSED'}"
