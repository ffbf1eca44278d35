"""Tests an operator as a whole: each sample undisturbed, then all cases, the most telling ones first.

Promise: a finding came out twice, the second time alone. When the budget is used up, whatever runs is
broken off, and all that was not decided is named; time for second tries is kept back. Cases side by
side are as many as the machine has use for; those that touch the operator itself wait until the others
are done.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError, InputError
from rolecall.extending import watch_keys
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import Client
from rolecall.log_fields import log_fields
from rolecall.watches import Watch, WatchDefaults, load_watches
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.checks import CHECKS
from rolecall_dev.proving.checks.deletion import DELETION_CHECK
from rolecall_dev.proving.checks.rights import RIGHTS, note_unused
from rolecall_dev.proving.checks.upgrade import UPGRADE
from rolecall_dev.proving.known_limits import (
    KnownLimit,
    MetLimit,
    covering,
    load_known_limits,
)
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    Older,
    Replay,
    Reported,
    Subject,
    around,
    read_replay,
)
from rolecall_dev.proving.report import UNDISTURBED, Finding, ProofProgress, ProofReport
from rolecall_dev.proving.samples import (
    NEEDS_ANNOTATION,
    CrSample,
    extracted,
    find_samples,
    full_revision,
)
from rolecall_dev.proving.side_by_side import ended_within, side_by_side
from rolecall_dev.proving.tested_cr import failure_message, shown_conditions
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.rbac import granted_rights
from rolecall_dev.staging import TrialCluster

_logger = logging.getLogger(__name__)

_Say = Callable[[str], None]
_SayWhere = Callable[[str, float], None]  # how far it is: in words, and as a part of the whole
REPLAYS_FOLDER = ".rolecall-test"
_RBAC_FOLDER = Path("config/rbac")
_CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
# What can be said of a sample that waits for something that is not here, and so never rests.
_NEED_NO_REST = frozenset({DELETION_CHECK.name})
_TELL_S = 1.0
_SIMULATED = "what happens inside of pods: nodes are simulated, so no container runs"


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be tested, and where."""

    project: Path
    kinds: Sequence[str] = ()
    samples: Sequence[Path] = ()
    checks: Sequence[str] = ()
    budget_s: float | None = None
    seed: int = 0
    replay: Path | None = None
    engine_arguments: Sequence[str] = ()
    from_revision: str = ""  # what `upgrade` begins with


async def prove(
    wish: Wish,
    *,
    trial_cluster: TrialCluster | None = None,
    say: _Say = lambda _: None,
    say_where: _SayWhere = lambda _text, _share: None,
) -> ProofReport:
    """Run the checks on a project's samples; with a cluster, on that one, else on a new one.

    `say` gets what is known from now on, and `say_where`, each second, how far it is.
    """
    plan = planned(wish)
    if trial_cluster is not None:
        return await _Proof(wish, plan, trial_cluster, say, say_where).run()
    async with TrialCluster.opened() as new:
        return await _Proof(wish, plan, new, say, say_where).run()


@dataclass(frozen=True, slots=True)
class ProofPlan:
    """What is known before anything runs."""

    samples: tuple[CrSample, ...]
    checks: tuple[str, ...]
    replayed: Case | None = None
    from_revision: str = ""
    limits: tuple[KnownLimit, ...] = ()


def planned(wish: Wish) -> ProofPlan:
    """Read the project; `InputError` where something that was asked for is not there."""
    for name in wish.checks:
        if name not in CHECKS:
            raise InputError(f"`{name}` is not a check", hint=f"there are {', '.join(CHECKS)}")
    watches = _watches(wish.project)
    checks = tuple(wish.checks or CHECKS)
    limits = load_known_limits(wish.project, [each.gvk.kind for each in watches], CHECKS)
    if wish.replay is None:
        if UPGRADE.name in wish.checks and not wish.from_revision:
            raise InputError("`upgrade` needs to know from where", hint="say `--from REVISION`")
        revision = full_revision(wish.project, wish.from_revision) if wish.from_revision else ""
        samples = find_samples(wish.project, watches, wish.kinds, wish.samples)
        return ProofPlan(tuple(samples), checks, None, revision, limits)
    replay = read_replay(wish.replay)
    found = find_samples(wish.project, watches, (), [wish.project / replay.sample])
    wanted = tuple(each for each in found if str(each) == replay.case.subject)
    if not wanted or replay.case.check not in CHECKS:
        raise InputError(f"{wish.replay}: `{replay.case.name}` is not a case of this project")
    revision = replay.case.params.get("from", "")
    return ProofPlan(wanted, (replay.case.check,), replay.case, revision, limits)


def _watches(project: Path) -> Sequence[Watch]:
    file = project / "watches.yaml"
    if not file.is_file():
        raise InputError(
            f"`{project}` has no watches.yaml, so there is no operator to test",
            hint="change into the folder of a project",
        )
    return load_watches(file, os.environ, WatchDefaults(), project, watch_keys())[0]


@dataclass(slots=True)
class _Suspicion:
    """What was found once, and by which cases."""

    problem: CaseProblem
    case: Case
    seconds: float  # of the first try
    is_tried_again: bool = False
    alike: list[Case] = field(default_factory=list)


class _Proof:
    def __init__(
        self,
        wish: Wish,
        plan: ProofPlan,
        trial_cluster: TrialCluster,
        say: _Say,
        say_where: _SayWhere,
    ) -> None:
        self._wish, self._plan, self._trial_cluster, self._say = wish, plan, trial_cluster, say
        self._say_where = say_where
        self._clock: Clock = SystemClock()
        self._progress = ProofProgress(samples=len(plan.samples))
        self._report = ProofReport()
        self._reported = Reported()
        self._suspicions: dict[tuple[str, str, str], _Suspicion] = {}
        self._subjects: dict[str, Subject] = {}
        self._older_project: Path | None = None
        self._open: dict[str, None] = {}  # what is not decided yet, in its order
        self._ends_at = float("inf")

    async def run(self) -> ProofReport:
        began = self._clock.monotonic()
        budget_s = self._wish.budget_s
        if budget_s is not None:
            self._ends_at = began + budget_s
        self._open = {f"{sample}{UNDISTURBED}": None for sample in self._plan.samples}
        telling = asyncio.create_task(self._report_where(began))
        try:
            await ended_within(self._work(), budget_s)
        finally:
            telling.cancel()
        report = self._report
        report.not_reached = list(self._open)
        report.not_tried_again = [
            f"{each.case.name}: {each.problem.reported}: {_first_line(each.problem.found)}"
            for each in self._suspicions.values()
            if not each.is_tried_again
        ]
        report.limits_not_met = self._limits_not_met()
        self._reported.cannot_prove(_SIMULATED)
        report.notes, report.unproved = self._reported.notes, self._reported.unproved
        report.seconds = self._clock.monotonic() - began
        return report

    async def _report_where(self, began: float) -> None:
        while True:
            progress = self._progress
            self._say_where(progress.reported(self._clock.monotonic() - began), progress.share)
            await self._clock.sleep(_TELL_S)

    async def _work(self) -> None:
        await asyncio.to_thread(self._trial_cluster.install_crds, self._wish.project)
        async with AsyncExitStack() as stack:
            if self._plan.from_revision:
                tree = extracted(self._wish.project, self._plan.from_revision)
                self._older_project = stack.enter_context(tree)
            operator = self._trial_cluster.operator(self._wish.project, self._wish.engine_arguments)
            engine, proxy = await stack.enter_async_context(operator)
            bench = Bench(self._trial_cluster, engine, proxy, self._clock, self._reported)
            try:
                await self._learn(bench)
                cases = self._cases()
                self._open |= {case.name: None for case in cases}
                self._progress.cases = len(cases)
                await self._try_all(bench, cases)
                await self._confirm(bench)
            finally:
                self._report.runs = proxy.runs

    async def _learn(self, bench: Bench) -> None:
        """What becomes of each sample when nothing disturbs."""
        older = self._older_samples()
        granted = await asyncio.to_thread(granted_rights, self._wish.project / _RBAC_FOLDER)
        known: dict[str, Undisturbed] = {}
        began = self._clock.monotonic()

        def note(sample: CrSample, undisturbed: Undisturbed) -> None:
            self._decided(f"{sample}{UNDISTURBED}", began)
            known[str(sample)] = undisturbed
            self._progress.known += 1

        await bench.undisturbed(self._plan.samples, note)
        for sample in self._plan.samples:
            undisturbed = known[str(sample)]
            schema = await _schema_of(self._trial_cluster.client, sample.gvk)
            self._subjects[str(sample)] = Subject(
                sample, undisturbed, schema, older.get(str(sample)), granted
            )
            effects = len(undisturbed.effects)
            self._say(
                f"{sample}: {len(undisturbed.requests)} requests, {effects} of them change something"
            )
            if undisturbed.fails and not sample.needs:
                self._report.findings.append(_failing(sample, undisturbed))
            if sample.needs:
                only = (
                    ""
                    if undisturbed.settles
                    else ", and never rests without: only its deletion was tested"
                )
                self._reported.cannot_prove(
                    f"{sample}: needs {sample.needs}, which is not here{only}"
                )
        if RIGHTS.name in self._plan.checks:
            note_unused(self._reported, self._subjects.values())

    def _older_samples(self) -> dict[str, Older]:
        """Of those that the other revision has under the same name."""
        project = self._older_project
        if project is None:
            return {}
        found = find_samples(project, _watches(project), (), ())
        return {str(each): Older(self._plan.from_revision, project, each) for each in found}

    def _cases(self) -> list[Case]:
        if self._plan.replayed is not None:
            return [self._plan.replayed]
        found = [
            case
            for subject in self._subjects.values()
            if not subject.undisturbed.fails or subject.sample.needs
            for name in self._plan.checks
            if subject.undisturbed.settles or not subject.sample.needs or name in _NEED_NO_REST
            for case in CHECKS[name].cases(subject)
        ]
        # Equal ones in an order of their own for each seed: a short budget sees others each time.
        random.Random(self._wish.seed).shuffle(found)  # noqa: S311 - no secret
        return sorted(found, key=lambda case: -case.worth)

    async def _try_all(self, bench: Bench, cases: Sequence[Case]) -> None:
        """Those that may run side by side, and then those that may not."""
        alone = [case for case in cases if case.is_alone]
        # The best of those that run alone come first: side by side there may be hundreds.
        early = [case for case in alone if case.worth >= 3.0]
        for case in early:
            await self._try(bench, case)
        beside = [case for case in cases if not case.is_alone]
        await side_by_side(beside, partial(self._try, bench))
        for case in alone[len(early) :]:
            await self._try(bench, case)

    async def _try(self, bench: Bench, case: Case) -> None:
        began = self._clock.monotonic()
        if began + self._kept_back_s() >= self._ends_at:
            return
        with self._progress.under_way(case.name):
            problems = await self._run(bench, case)
        seconds = self._decided(case.name, began)
        self._progress.decided += 1
        if problems is None:
            return
        if not problems:
            self._report.passed.append(case.name)
        for problem in problems:
            smallest = problem.case or case
            limit = covering(self._plan.limits, smallest, problem)
            if limit is not None:
                self._report.limits.append(MetLimit(smallest.name, problem.reported, limit))
                continue
            key = (case.subject, case.check, problem.signature)
            known = self._suspicions.get(key)
            if known is None:
                self._suspicions[key] = _Suspicion(problem, smallest, seconds)
                self._progress.seen_once += 1
                # The second try comes after all cases: who waits wants to know what to look at.
                what = _first_line(problem.found)
                self._say(f"seen once: {smallest.name}: {problem.reported}: {what}")
            else:
                known.alike.append(smallest)

    def _limits_not_met(self) -> list[str]:
        """Reported only where all was tried that could have met them."""
        if self._plan.replayed is not None:
            return []
        kinds = {sample.gvk.kind for sample in self._plan.samples}
        unknown = [*self._open, *self._report.undecided]
        met = {each.limit for each in self._report.limits}
        return [
            f"{limit.place}: {limit.shown}"
            for limit in self._plan.limits
            if limit not in met
            and limit.kind in kinds
            and limit.check in self._plan.checks
            and not any(name.startswith(f"{limit.kind}/") for name in unknown)
        ]

    def _kept_back_s(self) -> float:
        """What second tries will take: about as long as the first ones, which had company."""
        return sum(each.seconds for each in self._suspicions.values())

    def _decided(self, name: str, began: float) -> float:
        seconds = self._clock.monotonic() - began
        self._open.pop(name, None)
        self._report.seconds_of[name] = seconds
        _logger.debug("case ended", extra=log_fields(case=name, seconds=round(seconds, 2)))
        return seconds

    async def _run(self, bench: Bench, case: Case) -> list[CaseProblem] | None:
        """None: the cluster did something that the case has no answer to."""
        try:
            return await CHECKS[case.check].run(bench, self._subjects[case.subject], case)
        except ClusterError as error:
            self._report.undecided.append(f"{case.name}: {error.message}")
            return None

    async def _confirm(self, bench: Bench) -> None:
        """Try each again, alone, the quickest first; only what comes out once more is a finding."""
        self._progress.is_second = True
        for suspicion in sorted(self._suspicions.values(), key=lambda it: it.seconds):
            case = replace(suspicion.case, is_alone=True)
            with self._progress.under_way(case.name):
                found = await self._run(bench, case)
            self._progress.tried_again += 1
            limits = self._plan.limits
            again = [it for it in found or () if not covering(limits, it.case or case, it)]
            suspicion.is_tried_again = True
            if not again:
                self._report.not_repeated.append(
                    f"{suspicion.case.name}: {suspicion.problem.reported}"
                )
                continue
            self._add(
                suspicion,
                next((it for it in again if it.signature == suspicion.problem.signature), again[0]),
            )

    def _add(self, suspicion: _Suspicion, problem: CaseProblem) -> None:
        subject = self._subjects[suspicion.case.subject]
        replay = Replay(subject.sample.file, suspicion.case)
        found = problem.found
        if suspicion.alike:
            names = [case.reported for case in suspicion.alike]
            found += f"\nthe same with {len(names)} more: {'; '.join(names[:3])}"
        self._report.findings.append(
            Finding(
                check=suspicion.case.check,
                kind=subject.sample.gvk.kind,
                case=suspicion.case.name,
                reported=problem.reported,
                expected=problem.expected,
                found=found,
                remedy=problem.remedy,
                requests=problem.requests,
                place=problem.place,
                replay=replay.write(
                    self._wish.project / REPLAYS_FOLDER, len(self._report.findings) + 1
                ),
            )
        )
        self._say(f"found: {suspicion.case.name}: {problem.reported}")


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _failing(sample: CrSample, undisturbed: Undisturbed) -> Finding:
    """A sample that comes to no good end by itself: what is tested then is only how it fails."""
    return Finding(
        check="undisturbed",
        kind=sample.gvk.kind,
        case=f"{sample}{UNDISTURBED}",
        reported="the status says that something is wrong, though nothing disturbed",
        expected=f"it becomes right, or an annotation `{NEEDS_ANNOTATION}` says what it lacks",
        found=failure_message(undisturbed.cr) or shown_conditions(undisturbed.cr),
        remedy="Mend what the status names; if the role waits for something that no run of it changes,"
        " let its `report` ask for another run with `again: 2s`.",
        requests=around(undisturbed.requests, None),
    )


async def _schema_of(client: Client, gvk: Gvk) -> Json:
    """Of the spec, as the CRD has it."""
    for crd in await client.list_all(_CRD):
        spec = crd["spec"]
        if (spec["group"], spec["names"]["kind"]) == (gvk.group, gvk.kind):
            for version in spec["versions"]:
                if version["name"] == gvk.version:
                    whole = as_map(as_map(version.get("schema")).get("openAPIV3Schema"))
                    return as_map(as_map(whole.get("properties")).get("spec"))
    return {}
