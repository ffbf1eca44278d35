"""Runs the proof's groups of cases both ways, one run at a time, until one of them differs.

Ansible prints from two threads and now and then says the same in another order, so a difference counts
only when it comes back. A run that was cut short proves nothing: what did that may not do so again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.runner.contract import Ending, PlayTerms, Runner, RunRequest
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm.hosts import HostLimits, Hosts
from rolecall.runner.warm.link import HostLink
from rolecall.runner.warm.proof.difference import ProofDifference, first_difference
from rolecall.runner.warm.proof.groups import (
    CaseGroup,
    GroupOutcome,
    groups_in,
    outcome_of,
    write_project,
)
from rolecall.runner.warm.proof.normal import Normal
from rolecall.runner.warm.proof.verdict import ProofVerdict
from rolecall.runner.warm.runner import WarmRunner
from rolecall.runner.warm.trust import Trust
from rolecall.settings import RunnerSettings
from rolecall.watches import Play

CASES = Path(__file__).with_name("cases")
# What differs by chance is equal the next time.
_TRIES = 3
# It is niced, and the machine may be busy with what it is there for.
_START_WAIT_S, _RUN_LIMIT_S = 240.0, 600.0

# By a machine without memory or too busy, or by the end of the engine: it proves nothing.
_CUT_SHORT = (Ending.KILLED, Ending.TIMED_OUT, Ending.CANCELLED)

# Asked before each run, with its name; returns when it may start.
MayStart = Callable[[str], Awaitable[None]]


class UnfinishedError(Exception):
    """Nothing can be said; the cause may pass."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be proven, and where."""

    mark: str  # of the unknown ansible-core
    folder: Path
    collections_path: str = ""


class _ProofTrust(Trust):
    """Trusts what is being proven, and remembers a host that could not serve it."""

    def __init__(self, mark: str) -> None:
        super().__init__(frozenset({mark}))
        self.against = ""

    def meet(self, host: HostLink, prepared: PreparedRun) -> str:
        self.against = host.problem
        return super().meet(host, prepared)


class BothWays:
    def __init__(self, assignment: Assignment, may_start: MayStart) -> None:
        self._assignment = assignment
        self._may_start = may_start
        self._trust = _ProofTrust(assignment.mark)
        limits = HostLimits(start_wait_s=_START_WAIT_S)
        self._hosts = Hosts(SystemClock(), limits, self._trust)
        self._count = 0

    async def verdict(self) -> ProofVerdict:
        """Run everything; the hosts are gone afterwards."""
        cases = 0
        try:
            for group in groups_in(CASES):
                if difference := await self._difference(group):
                    return ProofVerdict(str(difference), cases=cases)
                cases += len(group.cases) or 1
        except UnfinishedError as error:
            return ProofVerdict(str(error), is_unfinished=not self._trust.against, cases=cases)
        finally:
            self._hosts.close()
        return ProofVerdict(cases=cases)

    async def _difference(self, group: CaseGroup) -> ProofDifference | None:
        difference = None
        for _ in range(_TRIES):
            self._count += 1
            folder = self._assignment.folder / f"{self._count:02}-{group.name}"
            write_project(folder / "project", group, {})
            stock = await self._outcome(group, "stock", folder)
            warm = await self._outcome(group, "warm", folder)
            difference = first_difference(group, stock, warm)
            if difference is None:
                return None
            for outcome in (stock, warm):
                if outcome.result.ending in _CUT_SHORT:
                    why = f"{outcome.result.ending.value}: {outcome.result.reason_text}"
                    raise UnfinishedError(
                        f"a {outcome.way} run of the self-test was interrupted: {why}"
                    )
        return difference

    async def _outcome(self, group: CaseGroup, way: str, folder: Path) -> GroupOutcome:
        await self._may_start(f"{group.name}, {way}")
        own = folder / way
        work = own / "work"
        work.mkdir(parents=True)
        settings = RunnerSettings(
            root=own / "root",
            ansible_args=str(group.data.get("args", "")),
            collections_path=self._assignment.collections_path,
        )
        stock = StockRunner(settings)
        runner: Runner = stock
        if way == "warm":
            runner = warm = WarmRunner(settings, stock, hosts=self._hosts)
        try:
            handle = await runner.start(
                _request(group, folder / "project", work), lambda _event: None
            )
            result = await handle.result()
        finally:
            await stock.close()
        if result.way != way:
            reason = self._trust.against or ", ".join(warm.reasons)
            raise UnfinishedError(f"no warm run could be made: {reason}")
        if result.artifacts is None:
            raise UnfinishedError(f"a run of the self-test could not start: {result.reason_text}")
        return outcome_of(result, Normal([(str(own), "<own>")]), work)


def _request(group: CaseGroup, project: Path, work: Path) -> RunRequest:
    play = Play(project / "playbook.yml", is_role=False)
    cr = {
        "apiVersion": "proof.rolecall/v1",
        "kind": "Proof",
        "metadata": {"name": "proof", "namespace": "proof"},
        "spec": {"work": str(work)},
    }
    return RunRequest(
        run_id="run",
        terms=PlayTerms(Gvk("proof.rolecall", "v1", "Proof"), play),
        cr=cr,
        is_finalizer=False,
        kubeconfig=project / "kubeconfig",
        verbosity=int(group.data.get("verbosity", 0)),
        keep_artifacts=0,
        timeout_s=_RUN_LIMIT_S,
    )
