"""Upgrade: CRs that an older revision of the project made are taken over by this one.

The older one makes the CR and all that belongs to it; then it ends, this one's CRDs are installed, and
this one's operator starts. What it comes to is held against a CR that was created with the same spec
under this one: what is left of the older one shows there.

Pods restart where the template of their workload changes. Where a fresh CR has the very template that
there was before, a new revision of it is a needless restart. Others are listed, leaf by leaf:
whether they are worth it, only the author knows.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rolecall.errors import ClusterError
from rolecall.json_object import Json, as_map
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    Older,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import Expected, TestedCr
from rolecall_dev.staging import NAMESPACE_MARK, EndState, Leeway, leaves_of, object_id, shown_value

_NAME = "upgrade"
_REMEDY = (
    "Delete in the role what the older revision made under other names, and keep pod templates as they"
    " were where nothing of them needs to change."
)
_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_SETTLES_WITHIN_S = 60.0
_MOST_LEAVES = 5


def _cases(subject: Subject) -> list[Case]:
    if subject.older is None:
        return []
    revision = subject.older.revision
    params = {"from": revision}
    reported = f"made by the project at {revision[:12]}"
    return [Case(_NAME, str(subject.sample), reported, params, worth=8.0, is_alone=True)]


@dataclass(frozen=True, slots=True)
class Workload:
    """What decides whether pods start anew."""

    template: Json
    revision: str  # counts templates, also one that was taken back at once


@dataclass(frozen=True, slots=True)
class Rollouts:
    """The workloads before the upgrade, after it, and those of a CR created today."""

    before: dict[str, Workload]
    after: dict[str, Workload]
    fresh: dict[str, Workload]

    @property
    def restarted(self) -> list[tuple[str, Workload, Workload]]:
        both = [(key, was, self.after.get(key)) for key, was in self.before.items()]
        return [
            (key, was, now)
            for key, was, now in both
            if now is not None and now.revision != was.revision
        ]


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    older = subject.older
    if older is None:
        bench.reported.note(f"{case.name}: that revision has no such sample")
        return []
    project = bench.engine.project
    await bench.engine.stop()
    try:
        return await _upgraded(bench, subject, case, older)
    finally:
        # The cases to come are about this revision, whatever became of this one.
        try:
            await asyncio.to_thread(bench.trial_cluster.install_crds, project)
        except ClusterError:
            await bench.trial_cluster.replace_crds(project)
        if not bench.engine.is_running:
            await bench.engine.start()


async def _upgraded(bench: Bench, subject: Subject, case: Case, older: Older) -> list[CaseProblem]:
    leeway = subject.undisturbed.leeway
    spec = older.sample.cr.get("spec") or {}
    if older.sample.gvk != subject.sample.gvk:
        raise ClusterError(
            f"its apiVersion was {older.sample.gvk.api_version}, and is"
            f" {subject.sample.gvk.api_version}: versions are converted by the operator's webhook,"
            " which the API server does not reach here"
        )
    # Going back is no part of it: versions may have come, and conversion between them.
    await bench.trial_cluster.replace_crds(older.project)
    async with bench.trial_cluster.operator(older.project) as (engine, proxy):
        then = Bench(bench.trial_cluster, engine, proxy, bench.clock, bench.reported)
        async with then.alone(replace(subject, sample=older.sample)) as made:
            await made.create()
            if not (await made.settle(limit_s=_SETTLES_WITHIN_S)).is_at_rest:
                bench.reported.note(f"{case.name}: it never settled there, so nothing was tried")
                return []
            before = workloads(await made.objects(), leeway)
            await engine.stop()
            try:
                await asyncio.to_thread(bench.trial_cluster.install_crds, bench.engine.project)
            except ClusterError as error:
                return [_problem(made, case, "has CRDs that the API server refuses", str(error))]
            await bench.engine.start()
            traffic = bench.proxy.follow(made.namespace)
            bench.proxy.alone = traffic
            place = replace(made.place, gvk=subject.sample.gvk)
            live = TestedCr(
                bench.trial_cluster.client,
                bench.engine,
                bench.clock,
                subject.sample,
                place,
                traffic,
            )
            try:
                await live.settle(limit_s=_SETTLES_WITHIN_S)
                fresh, made_anew = await _fresh(bench, subject, spec)
                settled = await live.settle(Expected(fresh, leeway), limit_s=_SETTLES_WITHIN_S)
                outcome = Rollouts(before, workloads(await live.objects(), leeway), made_anew)
            finally:
                bench.proxy.alone = None
                bench.proxy.unfollow(made.namespace)
    for reported in wanted_restarts(outcome):
        bench.reported.note(f"{case.name}: pods of {reported}")
    problems = [
        _problem(live, case, "restarts pods without need", found)
        for found in needless_restarts(outcome)
    ]
    if not settled.is_as_expected:
        found = shown_differences(settled.differences) or "it never settles"
        problems.append(
            _problem(live, case, "leaves something else than a CR created today", found)
        )
    return problems


async def _fresh(
    bench: Bench, subject: Subject, spec: Json
) -> tuple[EndState, dict[str, Workload]]:
    """What a CR with this spec comes to that only this revision ever saw."""
    leeway = subject.undisturbed.leeway
    async with bench.tested(subject) as tested:
        await tested.create(spec)
        settled = await tested.settle(limit_s=_SETTLES_WITHIN_S)
        return settled.state, workloads(await tested.objects(), leeway)


def workloads(objects: Sequence[Json], leeway: Leeway) -> dict[str, Workload]:
    """Those that start pods anew by their template."""
    found = {}
    for obj in objects:
        if obj["kind"] in _WORKLOADS and obj["apiVersion"].startswith("apps/"):
            notes = as_map(obj["metadata"].get("annotations"))
            status = as_map(obj.get("status"))
            revision = notes.get("deployment.kubernetes.io/revision") or status.get(
                "updateRevision"
            )
            template = as_map(as_map(obj.get("spec")).get("template"))
            if namespace := obj["metadata"].get("namespace"):
                # It may stand in an address; a fresh CR is in another one.
                template = json.loads(json.dumps(template).replace(namespace, NAMESPACE_MARK))
            found[object_id(obj, leeway)] = Workload(template, str(revision or ""))
    return found


def needless_restarts(outcome: Rollouts) -> list[str]:
    """Pods that started anew though a fresh CR has the template of before, or though none changed."""
    found = []
    for key, was, now in outcome.restarted:
        fresh = outcome.fresh.get(key)
        if was.template == now.template or (fresh is not None and fresh.template == was.template):
            found.append(f"{key}: template revision {was.revision}, then {now.revision}")
    return found


def wanted_restarts(outcome: Rollouts) -> list[str]:
    """The others, with what changed in their template."""
    needless = needless_restarts(outcome)
    return [
        f"{key} start anew: {'; '.join(changed_template(was.template, now.template))}"
        for key, was, now in outcome.restarted
        if not any(each.startswith(f"{key}:") for each in needless)
    ]


def changed_template(before: Json, after: Json) -> list[str]:
    """Leaf by leaf, of very many only the first."""
    was, now = leaves_of(before), leaves_of(after)
    found = [
        f"{path} {shown_value(was.get(path))} -> {shown_value(now.get(path))}"
        for path in sorted(was.keys() | now.keys())
        if was.get(path) != now.get(path)
    ]
    more = [f"and {len(found) - _MOST_LEAVES} more"] if len(found) > _MOST_LEAVES else []
    return [*found[:_MOST_LEAVES], *more]


def _problem(tested: TestedCr, case: Case, reported: str, found: str) -> CaseProblem:
    return CaseProblem(
        reported=f"{case.reported}, an upgrade {reported}",
        expected="the same as a CR created today, and pods go on that need not end",
        found=found,
        remedy=_REMEDY,
        requests=around(tested.traffic.requests, None),
        alike=f"{_NAME} {found}",
    )


UPGRADE = OperatorCheck(
    _NAME, "CRs of another revision (--from) are taken over, pods go on", _cases, _run
)
