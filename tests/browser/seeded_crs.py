"""One CR of a seeded world, with its day of runs and what it owns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from random import Random
from typing import Any

from rolecall.clock import time_text
from rolecall.json_object import Json
from rolecall.workqueue import Key, Urgency
from tests.browser.seeded_roles import OLD_TASK, SeededRole
from tests.browser.seeded_runs import SeededRun, suffix_of
from tests.browser.seeded_world import NOW, SeededWorld

_DAY_S = 86_400.0
_HOUR = timedelta(hours=1)
_WITH_EVENTS = 4  # newest runs of a whole CR
_WORKLOADS = ("Deployment", "StatefulSet", "Job")


@dataclass(frozen=True, slots=True)
class Failure:
    task: int  # its number in the role
    message: str


@dataclass(slots=True)
class SeededCr:
    key: Key
    role: SeededRole
    every_s: float
    failure: Failure | None = None  # of its last run, and of its retries before
    failed_at: datetime | None = None  # None: retried over the last hours
    factor: Callable[[datetime], float] = lambda _at: 1.0  # of a run's usual duration
    cause: str = ""  # empty: as `usual_cause` has it
    labels: dict[str, str] = field(default_factory=dict)
    is_paused: bool = False
    is_whole: bool = False  # with its objects, and with tasks of its last runs


def add_cr(world: SeededWorld, cr: SeededCr) -> None:
    """To the engine, to the cluster, and its runs to the disk."""
    runs = list(_day_of(world, cr))
    for place, run in enumerate(runs):
        is_new = place >= len(runs) - _WITH_EVENTS
        if cr.is_whole and place == max(0, len(runs) - _WITH_EVENTS):
            run.tasks = (*cr.role.tasks, OLD_TASK)
            run.changes |= {len(cr.role.tasks)}
        has_record = (cr.is_whole and is_new) or (run.ended or NOW) > NOW - _HOUR
        world.ran(run, events=cr.is_whole and is_new, record=has_record)
    last = runs[-1]
    state = "paused" if cr.is_paused else "failed" if cr.failure else "ready"
    spec = {"replicas": 2, "size": "small", "version": "1.1"}
    parts: dict[str, Any] = {"labels": cr.labels, "spec": spec, "generation": last.generation}
    in_a_row = takewhile(lambda run: run.outcome == last.outcome, reversed(runs))
    parts["conditions"] = conditions_of(last, list(in_a_row)[-1])
    found = world.hold(cr.key, state, **parts)
    if cr.is_paused:
        why = "the vendor looks at it, ticket 4711"
        world.pauses(cr.key, "anna@example.com", why, NOW - 3 * _HOUR)
    elif cr.failure:
        world.comes_back(cr.key, world.random.uniform(20, 900), Urgency.RETRY, "retry 4")
    else:
        due_s = world.random.uniform(60, cr.every_s)
        world.comes_back(cr.key, due_s, Urgency.PERIOD, "period")
    if cr.is_whole:
        _make_owned(world, cr, found)


def usual_cause(random: Random) -> str:
    causes = ("period", "edit", "drift of Deployment", "the role asked for it")
    return random.choices(causes, (20, 4, 2, 1))[0]


def conditions_of(run: SeededRun, first: SeededRun) -> list[Json]:
    """As the engine writes them after a run; `first`: of those in a row that ended like it."""
    is_good = run.outcome == "succeeded"
    at = time_text(first.ended or first.began)
    said = {
        "Running": ("False", "Successful" if is_good else "Failed"),
        "Failure": ("False" if is_good else "True", "" if is_good else "Failed"),
        "Ready": ("True", "RunSucceeded") if is_good else ("False", "RunFailed"),
    }
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": run.message if kind != "Running" and not is_good else "",
            "lastTransitionTime": at,
            **({"observedGeneration": run.generation} if kind == "Ready" else {}),
        }
        for kind, (status, reason) in said.items()
    ]


def _day_of(world: SeededWorld, cr: SeededCr) -> list[SeededRun]:
    """Its runs of the last day, oldest first; an edit in its midst."""
    random, role = world.random, cr.role
    moments: list[datetime] = []
    # A whole one may be in flight now.
    ago_s = random.uniform(90 if cr.is_whole else 0, min(cr.every_s, _DAY_S))
    while ago_s < _DAY_S or not moments:
        moments.append(NOW - timedelta(seconds=ago_s + 1))
        ago_s += cr.every_s * random.uniform(0.95, 1.05)
    if len(moments) > 1:  # else it is new; so that all of the day is known
        moments.append(NOW - timedelta(hours=25, seconds=random.uniform(0, 3000)))
    moments.sort()
    failed = _failed_moments(random, cr) if cr.failure else []
    moments = [each for each in moments if not failed or each < failed[0]] + failed
    runs: list[SeededRun] = []
    for place, ended in enumerate(moments):
        seconds = role.seconds * cr.factor(ended) * random.lognormvariate(0, 0.25)
        began = ended - timedelta(seconds=seconds)
        run = SeededRun(cr.key, role, began, seconds, cr.cause or usual_cause(random))
        run.generation = 2 if place * 2 >= len(moments) else 1
        is_edited = bool(runs) and runs[-1].generation != run.generation
        if is_edited:
            run.cause = "edit"
        run.spec = {"replicas": run.generation, "size": "small", "version": "1.1"}
        makers = [number for number, task in enumerate(role.tasks) if task.makes and not task.polls]
        if run.cause != "period":
            some = random.sample(makers, min(2, len(makers)))
            run.changes = frozenset(makers if is_edited else some)
        if len(moments) == 1:
            run.cause = "creation"
        if cr.failure and ended in failed:
            run.outcome, run.fails_in = "failed", cr.failure.task
            run.message = cr.failure.message
            run.cause = f"retry {failed.index(ended)}" if ended != failed[0] else run.cause
        runs.append(run)
    return runs


def _failed_moments(random: Random, cr: SeededCr) -> list[datetime]:
    if cr.failed_at is not None:
        return [cr.failed_at]
    ago_s = random.uniform(10, 900)
    found = []
    for _ in range(4):
        found.append(NOW - timedelta(seconds=ago_s))
        ago_s += random.uniform(900, 3600)
    return sorted(found)


def _make_owned(world: SeededWorld, cr: SeededCr, owner: Json) -> None:
    """What its role makes, and an object that a task of an earlier release made."""
    made, name = NOW - timedelta(days=2), cr.key.name
    for kind in dict.fromkeys(task.makes for task in cr.role.tasks if task.makes):
        called = f"{name}{suffix_of(kind)}"
        if kind in _WORKLOADS:
            ready = 1 if cr.failure else 2
            world.objects.put_workload(owner, kind, called, made, ready=ready)
        else:
            fields: Json = {"data": {"key": "value"}} if kind != "Service" else {}
            world.objects.put_owned(owner, kind, called, made, **fields)
    world.objects.put_owned(
        owner, "ConfigMap", f"{name}{OLD_TASK.called}", made, data={"routes": "a"}
    )
