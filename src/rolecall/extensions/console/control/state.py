"""The state of an engine as one JSON document, which is put together only for a request.

The event loop only copies; `Snapshot.as_json` may be called in a thread, because ten thousand CRs would
block the loop, and because it reads files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from rolecall.clock import Clock, time_text
from rolecall.extending import (
    Act,
    EngineFacts,
    EnginePorts,
    HeldRun,
    KnownByPlace,
    KnownCr,
    LastRuns,
    by_key,
)
from rolecall.extensions.console.division import KeyHolders
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.reconcile import Progress
from rolecall.workqueue import Delayed, Key, Urgency, Waiting

_CLOCK_WAS_SET_S = 0.5
_FAILED = ("failed", "lost")
_STATE_AFTER = {"succeeded": "ready", "cancelled": "stopped"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was there at one moment, as it was copied on the loop."""

    facts: EngineFacts
    leads: bool
    plurals: Mapping[Gvk, str]
    known: Mapping[Gvk, KnownByPlace]
    in_flight: Mapping[Key, Progress]
    waiting: Sequence[Waiting]
    delayed: Sequence[Delayed]
    wall: Callable[[float], datetime]  # from the queue's clock to the one on the wall
    acts: Mapping[Key, Sequence[Act]]  # beside runs
    holders: KeyHolders | None = None  # None: one replica has all CRs

    def as_json(self, last_runs: LastRuns) -> dict[str, Any]:
        return _Sorted(
            by_key(self.known),
            self.in_flight,
            {each.key: each for each in self.waiting},
            {each.key: each for each in self.delayed},
            self.wall,
            self.acts,
            self.holders,
        ).as_json(self._engine(), last_runs)

    def crs(self, last_runs: LastRuns, may_read: Callable[[], bool]) -> Iterator[CrNow]:
        """Each CR by itself, in no order, so that one can rest in between; of those whose last run
        would have to be read, as many as may be.
        """
        waiting = {each.key: each for each in self.waiting}
        delayed = {each.key: each for each in self.delayed}
        by_name = _Sorted({}, self.in_flight, waiting, delayed, self.wall, self.acts, self.holders)

        def now(key: Key, known: KnownCr | None) -> CrNow:
            has_last_run = last_runs.is_known(key) or may_read()
            last = last_runs.held(key) if has_last_run and by_name.is_own(key) else None
            return CrNow(
                key,
                by_name.state(key, known, last.facts.outcome if last else ""),
                known.generation if known else None,
                self.in_flight.get(key),
                waiting.get(key),
                delayed.get(key),
                last,
            )

        unknown = self.in_flight.keys() | waiting.keys()
        for gvk, places in self.known.items():
            for (namespace, name), known in places.items():
                if known.is_selected:
                    key = Key(gvk, namespace, name)
                    unknown.discard(key)
                    yield now(key, known)
        for key in unknown:
            yield now(key, None)

    def _engine(self) -> dict[str, Any]:
        facts = self.facts
        return {
            "version": facts.version,
            "pid": facts.pid,
            "leads": self.leads,
            "began": time_text(facts.began),
            "server": facts.server,
            "kubeconfig": facts.kubeconfig,
            "shards": self._shards(),
            "watches": [
                {
                    "kind": gvk.kind,
                    "api_version": gvk.api_version,
                    "plural": self.plurals.get(gvk, ""),
                }
                for gvk in facts.kinds
            ],
        }

    def _shards(self) -> dict[str, Any] | None:
        holders = self.holders
        if holders is None:
            return None
        return {"count": holders.seen.count, "held": holders.held, "replica": holders.replica}


class CrNow(NamedTuple):
    """One CR at that moment."""

    key: Key
    state: str
    generation: int | None
    run: Progress | None
    waiting: Waiting | None
    delayed: Delayed | None
    last: HeldRun | None


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The same by key."""

    known: Mapping[Key, KnownCr]
    in_flight: Mapping[Key, Progress]
    waiting: Mapping[Key, Waiting]
    delayed: Mapping[Key, Delayed]
    wall: Callable[[float], datetime]
    acts: Mapping[Key, Sequence[Act]]
    holders: KeyHolders | None

    def as_json(self, engine: dict[str, Any], last_runs: LastRuns) -> dict[str, Any]:
        crs = [self.cr(key, self.known.get(key), last_runs.of(key)) for key in self.ordered()]
        return {"engine": engine, "crs": crs}

    def ordered(self) -> list[Key]:
        """By kind, namespace and name."""
        return sorted(
            self.known.keys() | self.in_flight.keys() | self.waiting.keys(),
            key=lambda key: (key.gvk.kind, key.namespace, key.name, key.gvk),
        )

    def cr(self, key: Key, known: KnownCr | None, last: KeptRun | None) -> dict[str, Any]:
        run, waiting = self.in_flight.get(key), self.waiting.get(key)
        holder = self.holders.of(key) if self.holders is not None else None
        if not self.is_own(key):
            last = None
        return {
            "kind": key.gvk.kind,
            "api_version": key.gvk.api_version,
            "namespace": key.namespace,
            "name": key.name,
            "generation": known.generation if known else None,
            "state": self.state(key, known, last.outcome if last else ""),
            "deleted": bool(known and known.is_deleted),
            "pause": _pause(known),
            "shard": holder.shard if holder else None,
            "replica": holder.replica if holder else None,
            "run": run.run_id if run else None,
            "task": run.task if run else "",
            "place": run.place if run else "",
            "tasks": run.tasks if run else 0,
            "task_since": time_text(run.task_since) if run else None,
            "waits_since": time_text(run.waits_since) if run and run.waits_since else None,
            "began": time_text(run.began) if run else None,
            "timeout_s": run.timeout_s if run else None,
            "no_progress_timeout_s": run.no_progress_timeout_s if run else None,
            "cause": run.cause if run else waiting.cause.text if waiting else "",
            "urgency": waiting.urgency.name.lower() if waiting else None,
            "waiting_since": time_text(self.wall(waiting.since)) if waiting else None,
            "last": _last(last),
            "handlers": [_act(each) for each in self.acts.get(key, ())],
            **self._next(key),
        }

    def is_own(self, key: Key) -> bool:
        """Else what ran here is older than what ran there."""
        return self.holders is None or self.holders.of(key).is_self

    def state(self, key: Key, known: KnownCr | None, last_outcome: str) -> str:
        delayed = self.delayed.get(key)
        if key in self.in_flight:
            return "running"
        if known and known.is_paused:
            return "paused"
        if key in self.waiting:
            return "waiting"
        if (delayed and delayed.urgency is Urgency.RETRY) or last_outcome in _FAILED:
            return "failed"
        return _STATE_AFTER.get(last_outcome, "unknown")

    def _next(self, key: Key) -> dict[str, Any]:
        delayed = self.delayed.get(key)
        if delayed is None:
            return {"next_at": None, "next_why": None}
        return {"next_at": time_text(self.wall(delayed.deadline)), "next_why": delayed.cause.text}


class Wall:
    """Converts times of the queue's clock to wall-clock time, and the same time always to the same.

    Otherwise a time near a full second would be shown as one second now and as the next one later, as
    if it had changed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._zero = self._zero_now()

    def at(self, ticks: float) -> datetime:
        return self._zero + timedelta(seconds=ticks)

    def follow(self) -> None:
        """Follow a change of the system clock."""
        zero = self._zero_now()
        if abs((zero - self._zero).total_seconds()) > _CLOCK_WAS_SET_S:
            self._zero = zero

    def _zero_now(self) -> datetime:
        return self._clock.now() - timedelta(seconds=self._clock.monotonic())


def snapshot(ports: EnginePorts, wall: Wall) -> Snapshot:
    """Copy what is there now; on the loop."""
    wall.follow()
    return Snapshot(
        facts=ports.facts,
        leads=ports.leads(),
        plurals=ports.plurals(),
        known=ports.known(),
        in_flight=dict(ports.in_flight()),
        waiting=ports.waiting(),
        delayed=ports.delayed(),
        wall=wall.at,
        acts=ports.acts(),
        holders=None if ports.division is None else KeyHolders(ports.division),
    )


def _act(act: Act) -> dict[str, Any]:
    return {
        "name": act.name,
        "place": act.place,
        "outcome": act.outcome,
        "why": act.why,
        "seconds": act.seconds,
        "at": time_text(act.at),
        "failures": act.failures,
        "lines": [
            {"number": line.number, "at": time_text(line.at), "text": line.text}
            for line in act.lines
        ],
    }


def _pause(known: KnownCr | None) -> dict[str, Any] | None:
    note = known.pause_note if known else None
    return None if note is None else note._asdict()


def _last(run: KeptRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "run": run.run,
        "outcome": run.outcome,
        "reason": run.reason,
        "ended": time_text(run.ended) if run.ended else None,
        "seconds": run.seconds,
        "task": run.failed_task.name if run.failed_task else "",
        "place": run.failed_task.place if run.failed_task else "",
        "finalizer": run.is_finalizer,
    }
