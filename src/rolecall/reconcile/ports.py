"""What a reconcile needs from other rooms, as small Protocols; `app.py` connects the real things.

Written here, in the room that decides, so that it can be read and tested with nothing around it and
so that no lower or side room has to know of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.reconcile.following import NOT_FOLLOWED, FollowedRun, RunFindings
from rolecall.runner import (
    NOTHING_WITHHELD,
    RunEvent,
    RunHandle,
    Runner,
    RunResult,
    WithheldKeys,
)
from rolecall.settings import Settings
from rolecall.status import ConditionEdit, ObjectApi, OnOwnWrite, StatusChange
from rolecall.watches import Watch
from rolecall.workqueue import ROLE, Cause, Key, Turn, Urgency


@dataclass(frozen=True, slots=True)
class RunAccess:
    """What a play is given to reach the API server: the proxy, under this run's own credential."""

    kubeconfig: Path
    # From what a failed task said, and the verbs that it needs: the right that the API server refused
    # to this run, and the rule that grants all of them. Empty: the task failed for another reason.
    missing_right: Callable[[str, Sequence[str]], str] = lambda *_: ""
    followed: FollowedRun = NOT_FOLLOWED
    # The Secrets that the run was answered with since this was called last; from any thread.
    seen_secrets: Callable[[], Sequence[Json]] = tuple


class AccessIssuer(Protocol):
    """Hands out per-run kubeconfigs; the proxy is the real one."""

    def issue_access(
        self, run_id: str, cr: Json, watch: Watch
    ) -> AbstractAsyncContextManager[RunAccess]:
        """A kubeconfig that is valid, and whose writes are owned by `cr`, while the context lasts."""


class EventRecorder(Protocol):
    """Posts Kubernetes Events on CRs, de-duplicated; never raises, never blocks the caller."""

    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        """Post one Event; `kind` is `Normal` or `Warning`."""


class Telemetry(Protocol):
    def reconcile_finished(self, gvk: Gvk, result: str, seconds: float) -> None:
        """One turn is over; `result` as controller-runtime names it: success, error, requeue_after."""

    def run_finished(self, gvk: Gvk, *, succeeded: bool, seconds: float, way: str) -> None:
        """One run is over (the Go operator's `ansible_operator_reconcile_result`, `_reconciles`)."""

    def tasks_ran(self, way: str, count: int) -> None: ...

    def phase(self, gvk: Gvk, phase: str, seconds: float) -> None:
        """Time spent in one phase of a turn: queue, prepare, run, status."""

    def conditions(self, key: Key, conditions: Iterable[Any]) -> None:
        """What the CR's status says now."""


class KeySlots(Protocol):
    """What entitles the runs of keys in hand to compute; the queue is the real one."""

    def leave_slot(self, key: Key) -> None:
        """The key's run waits: others may have its slot meanwhile."""

    def want_slot(self, key: Key, on_given: Callable[[], None]) -> None:
        """The key's run is awake: call this as soon as it has a slot."""


class SpecKeyFilter(Protocol):
    """Finds keys of a spec that would override what a role sets itself; see `runner.spec_keys`."""

    async def withheld(self, watch: Watch, cr: Json, *, is_finalizer: bool) -> WithheldKeys:
        """Those, and why; never raises."""


class AllKeys:
    """A play gets all keys."""

    async def withheld(self, *_: object, **_named: object) -> WithheldKeys:
        return NOTHING_WITHHELD


class KeptSlots:
    """Runs keep their slots while they wait."""

    def leave_slot(self, key: Key) -> None:
        """Ignored: the slot stays taken."""

    def want_slot(self, _key: Key, on_given: Callable[[], None]) -> None:
        on_given()


class PlayLog(Protocol):
    """Prints what plays say, where the Go operator puts it."""

    def event(self, key: Key, run_id: str, event: RunEvent, verbosity: int) -> None: ...

    async def recap(self, key: Key, result: RunResult) -> None:
        """What follows the line about the end of a run."""


@dataclass(frozen=True, slots=True)
class TurnTrail:
    """Of a turn that had a run, for metrics and traces; times on the clock that never jumps."""

    began_s: float  # the turn
    run_began_s: float
    run_ended_s: float
    uid: str  # of the CR
    result: RunResult
    followed: FollowedRun


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do next with a key; exactly one of the ways that a queue can take it back."""

    # error: back off. Otherwise: come back after `after_s` seconds, or not at all where it is None.
    error: str = ""
    # The error is that of a run, which most likely fails again if it is tried at once.
    is_of_run: bool = False
    after_s: float | None = None
    urgency: Urgency = Urgency.PERIOD
    cause: Cause = ROLE  # why it comes back then
    # `after_s` is a period, which may be stretched a little, and not a time that a role asked for.
    is_period: bool = False
    # Nothing was tried, so nothing is known: a key that failed before has still failed.
    is_put_off: bool = False
    # The CR is gone: folders, counters and metrics of it may go too.
    forget: bool = False
    # Why nothing ran, for the log at debug level.
    why: str = field(default="", compare=False)
    # The error concerns all keys of a kind, and the kind's watch says it once for all of them.
    is_of_kind: bool = False
    # Log fields of this turn's run; empty where nothing ran.
    ran: Mapping[str, object] = field(default_factory=dict)
    # What its run came to, where it had one to its end.
    result: RunResult | None = None
    trail: TurnTrail | None = None  # of its run, whatever came of it

    @property
    def is_error(self) -> bool:
        return bool(self.error)


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that is over, whatever it came to, before its end is written into status."""

    key: Key
    watch: Watch
    cr: Json  # as the play saw it
    before: Json  # as it was when the turn began
    is_finalizer: bool
    result: RunResult
    findings: RunFindings = field(default_factory=lambda: RunFindings(NOT_FOLLOWED))


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn that comes to its run, unless an extension knows why it needs none."""

    turn: Turn
    watch: Watch
    cr: Json
    period_s: float


class TakenTurn(Protocol):
    """What an extension may do in a turn that it takes."""

    @property
    def cancelled(self) -> str:
        """Why nothing more may come of it; empty: it goes on."""

    @property
    def is_stopped(self) -> bool:
        """Whether a person asked for that: nothing is to follow before the period."""

    def running(self) -> AbstractContextManager[Callable[[RunHandle], None]]:
        """Give a run to what this yields, and it ends with the turn."""

    async def write(self, change: StatusChange) -> Json:
        """Change the CR's status, where that is ours to write; returns the CR as it is then."""


class TurnHooks(Protocol):
    """What features beside the core do in a turn."""

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:
        """What comes of a turn in which something else is done; None: go on. Nothing is written yet."""

    async def why_no_run(self, turn: TurnView) -> str:
        """Why this turn needs no run; empty: make it. Not asked for a CR that is being deleted."""

    async def run_ended(self, run: EndedRun) -> None:
        """A run ended by itself."""

    def condition_edits(self, run: EndedRun) -> Sequence[ConditionEdit]:
        """What follows from a run for conditions that are not the core's."""

    def run_again(self, key: Key) -> None:
        """The last run of a CR says nothing of the next."""


class TurnFollowers(Protocol):
    """Features beside the core that are notified of turns."""

    async def on_gone(self, key: Key) -> None:
        """The CR is gone; what is kept of it may go too."""

    def turn_over(self, turn: Turn, outcome: Outcome) -> None:
        """A turn ended."""


class NoFollowers:
    """There are none."""

    async def on_gone(self, _key: Key) -> None:
        """Nothing is kept."""

    def turn_over(self, _turn: Turn, _outcome: Outcome) -> None:
        """Ignored: nothing follows turns."""


class NoHooks:
    """There are none."""

    async def instead_of_run(self, _turn: TurnView, _taken: TakenTurn) -> None:
        """Nothing else is done."""

    async def why_no_run(self, _turn: TurnView) -> str:
        return ""

    async def run_ended(self, _run: EndedRun) -> None:
        """Nothing follows."""

    def condition_edits(self, _run: EndedRun) -> Sequence[ConditionEdit]:
        return ()

    def run_again(self, _key: Key) -> None:
        """Every run is made."""


@dataclass(frozen=True, slots=True)
class ReconcilerPorts:
    cluster: ObjectApi  # where there is an election: the fenced one
    runner: Runner
    access: AccessIssuer
    events: EventRecorder
    telemetry: Telemetry
    plays: PlayLog
    clock: Clock
    # Asked before each run: another replica may lead by now, and two must not run for one CR.
    may_run: Callable[[], bool] = _always
    # Called for our own writes to kinds without generations, where each version counts as an edit.
    on_written: OnOwnWrite = lambda *_: None
    hooks: TurnHooks = field(default_factory=NoHooks)
    slots: KeySlots = field(default_factory=KeptSlots)
    # The CR as an event brought it that came before the turn; None: read it. Asking takes it away.
    brought: Callable[[Key], Json | None] = lambda _: None
    # Which keys of a CR's spec its play does not get.
    spec_keys: SpecKeyFilter = field(default_factory=AllKeys)


@dataclass(frozen=True, slots=True)
class RunDefaults:
    """What a run gets where neither its watch nor its CR says."""

    timeout_s: float | None = None
    no_progress_timeout_s: float | None = None
    dependents_delay_s: float = 0.0  # see `RecentRuns`
    play_verbosity: int = 0  # how the play log prints tasks

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            timeout_s=settings.runner.timeout_s,
            no_progress_timeout_s=settings.runner.no_progress_timeout_s,
            dependents_delay_s=settings.queue.dependents_delay_s,
            play_verbosity=settings.logs.play_verbosity,
        )
