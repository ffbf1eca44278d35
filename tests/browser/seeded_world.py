"""A world that is made up from a seed: an engine with CRs, their runs on disk, a cluster with objects
and users. Its clock begins at `NOW`, whatever the machine's says, so that its pictures stay the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from rolecall.clock import SystemClock, time_text
from rolecall.extending import EngineFacts, EnginePorts, LastRuns
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.reconcile import PauseNote, Progress
from rolecall.workqueue import Cause, Delayed, Key, Urgency, Waiting
from tests.browser.seeded_objects import WorldClient, WorldObjects
from tests.browser.seeded_roles import ROLES, SeededRole
from tests.browser.seeded_runs import RunWriter, SeededRun
from tests.unit.extensions.console.control.engine import Known, World
from tests.unit.extensions.console.page.cluster import FakeCluster

NOW = datetime(2026, 11, 24, 14, 40, tzinfo=UTC)
NOON = NOW.replace(hour=12, minute=0)


class WorldClock(SystemClock):
    """The machine's, but that it began at `NOW`."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def now(self) -> datetime:
        return NOW + timedelta(seconds=time.monotonic() - self._began_s)


@dataclass
class SeededWorld:
    """`hold(...)` and the like add to it; `ports` is what an engine gives to its page."""

    root: Path
    seed: int = 39
    roles: Sequence[SeededRole] = ROLES
    known: dict[Gvk, dict[tuple[str, str], Known]] = field(default_factory=dict)
    in_flight: dict[Key, Progress] = field(default_factory=dict)
    waiting: list[Waiting] = field(default_factory=list)
    delayed: list[Delayed] = field(default_factory=list)
    cluster: FakeCluster = field(default_factory=FakeCluster)
    # What the page has to show: CRs by state, and runs by outcome of the last hour.
    states: Counter[tuple[str, str]] = field(default_factory=Counter)  # kind, state
    state_of: dict[Key, str] = field(default_factory=dict)
    ended: list[SeededRun] = field(default_factory=list)
    kept: dict[Key, list[str]] = field(default_factory=dict)  # ids of runs, oldest first

    def __post_init__(self) -> None:
        self.random, self.clock = Random(self.seed), WorldClock()
        self.last_runs = LastRuns(self.root)
        self.writer = RunWriter(self.root, self.random)
        self.objects = WorldObjects(self.cluster)
        self.known = {role.gvk: {} for role in self.roles}
        self._orders = count()
        # What it was asked to do: key, cause.
        self.engine = World(self.root)
        kinds = [role.gvk for role in self.roles]
        server = "https://10.0.0.1:6443"
        self.engine.ports = replace(
            self.engine.ports,
            facts=EngineFacts("1.2.3", 4711, NOW, kinds, server),
            clock=self.clock,
            plurals=lambda: {role.gvk: role.plural for role in self.roles},
            known=lambda: {gvk: dict(crs) for gvk, crs in self.known.items()},
            in_flight=lambda: self.in_flight,
            waiting=lambda: self.waiting,
            delayed=lambda: self.delayed,
        )

    @property
    def ports(self) -> EnginePorts:
        return self.engine.ports

    def client(self, token: str = "") -> WorldClient:
        return WorldClient(self.cluster, {role.kind: role.gvk for role in self.roles}, token)

    def hold(self, key: Key, state: str, **parts: Any) -> Json:
        """A CR that the engine knows and the cluster has; see `put_cr`."""
        generation = parts.get("generation", 1)
        self.known[key.gvk][key.namespace, key.name] = Known(generation)
        self.states[key.gvk.kind, state] += 1
        self.state_of[key] = state
        made = NOW - timedelta(days=3, minutes=self.random.randrange(4000))
        return self.objects.put_cr(key, made, **parts)

    def ran(self, run: SeededRun, *, events: bool = False, record: bool = False) -> str:
        run_id = self.writer.write(run, events=events, record=record)
        self.kept.setdefault(run.key, []).append(run_id)
        if run.ended is not None:
            self.ended.append(run)
        return run_id

    def runs_now(self, run: SeededRun) -> str:
        """A run that is in flight, as far as it has come."""
        run_id = self.ran(run, events=True)
        tasks, at_s = run.tasks or run.role.tasks, 0.3
        whole = sum(task.share for task in tasks)
        for number, task in enumerate(tasks):
            length_s = task.share / whole * (run.seconds - 0.4)
            if at_s + length_s > run.seconds * run.progress or number == len(tasks) - 1:
                since = run.began + timedelta(seconds=at_s)
                place = run.role.place(number)
                self.in_flight[run.key] = Progress(
                    run_id,
                    run.cause,
                    run.began,
                    since,
                    task.name,
                    place,
                    timeout_s=3600.0,
                    tasks=number + 1,
                )
                return run_id
            at_s += length_s
        raise AssertionError("a role has tasks")

    def waits(self, key: Key, seconds: float, urgency: Urgency, cause: str) -> None:
        since = self.clock.monotonic() - seconds
        self.waiting.append(Waiting(key, urgency, Cause(cause), since, next(self._orders)))

    def comes_back(self, key: Key, seconds: float, urgency: Urgency, cause: str) -> None:
        due = self.clock.monotonic() + seconds
        self.delayed.append(Delayed(key, urgency, Cause(cause), due, next(self._orders)))

    def pauses(self, key: Key, by: str, because: str, since: datetime) -> None:
        known = self.known[key.gvk][key.namespace, key.name]
        known.is_paused, known.pause_note = True, PauseNote(by, time_text(since), because)

    def know_last_runs(self) -> None:
        """As an engine does after some minutes: so that no test waits until files are read."""
        for gvk, crs in self.known.items():
            for namespace, name in crs:
                self.last_runs.of(Key(gvk, namespace, name))

    def let_in_three_users(self) -> None:
        """Who may do all, who reads objects of one namespace but no logs, and who may do nothing."""
        kinds = [role.plural for role in self.roles]
        things = ["deployments", "statefulsets", "replicasets", "jobs", "pods"]
        things += ["configmaps", "secrets", "services"]
        rules = [(verb, kind, "*") for verb in ("get", "list", "patch") for kind in kinds]
        rules += [("get", f"{kind}/log", "*") for kind in kinds]
        rules += [(verb, thing, "*") for verb in ("get", "list") for thing in things]
        self.cluster.knows("chief", *rules)
        first = min(namespace for crs in self.known.values() for namespace, _ in crs)
        reads = [(verb, kind, first) for verb in ("get", "list") for kind in kinds]
        self.cluster.knows("clerk", *reads)
        self.cluster.knows("passer-by")

    def moves(self, key: Key, state: str) -> None:
        """From the state that it was held in."""
        self.states[key.gvk.kind, self.state_of[key]] -= 1
        self.states[key.gvk.kind, state] += 1
        self.state_of[key] = state
