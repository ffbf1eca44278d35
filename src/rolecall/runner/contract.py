"""How the rest of the engine sees a run: a request goes in, events come by, one result comes out.

The stock and the warm way stand behind the same `Runner`; its callers see no difference but in the
clock. What Ansible says is folded here into few words, so that no other room must know its events (but
`logs`, which prints them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.runner.events import TaskEvent
from rolecall.settings import RunnerSettings
from rolecall.watches import Play


class Ending(Enum):
    """How a run ended; the values are the reasons of `Failure`, but for the first two: `Failed`."""

    FINISHED = "Finished"  # the play reached its recap; `failures` show whether it succeeded
    NOT_STARTED = "NotStarted"  # it could not start: bad inventory, the watch's role is missing ...
    NO_RECAP = "PlayBroken"  # syntax error, a collection or role that the play names is missing
    TIMED_OUT = "TimedOut"  # over the run's time limit
    NO_PROGRESS = "NoProgress"  # no event for longer than the watch allows
    CANCELLED = "Cancelled"  # the engine ended it: deletion, newer generation, shutdown
    KILLED = "Killed"  # ended by a signal that was not ours, e.g. out of memory


class RunSlot(Protocol):
    """What entitles a run to compute. All of it is called on the loop, as long as the run goes on."""

    def leave(self) -> None:
        """The run waits: others may have its slot meanwhile."""
        ...

    def want(self, on_given: Callable[[], None]) -> None:
        """The run goes on once it has a slot: call `on_given` then; at once, if it still has it."""
        ...


@dataclass(frozen=True, slots=True)
class PlayTerms:
    """What is played for CRs of a kind, and how: all that a runner needs of a watch."""

    gvk: Gvk
    play: Play
    main: Play | None = None  # where `play` is a finalizer's; shown, and never run
    vars: Mapping[str, Any] = field(default_factory=dict)
    snake_case_parameters: bool = True
    trusts_cr_text: bool = False  # it may be templated
    way: str | None = None  # `stock` or `warm`; None: as the runner's settings say
    notes_uses: bool = False  # whether the engine asks what the run uses


class PlayReader(Protocol):
    """Makes an answer of the tasks of a play, in the run's thread."""

    def note(self, task: TaskEvent) -> None:
        """A task ended, or an item of one; they come in any order, unredacted."""

    def answer(self, failed: Sequence[TaskEvent], mask: Callable[[str], str]) -> object:
        """The play is over; `failed`: the tasks that failed and that nothing rescued."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Everything that one run needs; no more questions are asked once it started."""

    run_id: str
    terms: PlayTerms
    cr: Json  # the whole object, as the play shall see it
    is_finalizer: bool
    kubeconfig: Path  # points at the proxy, with this run's own credential
    verbosity: int  # effective: annotation over environment over flag
    keep_artifacts: int  # effective; 0 keeps all
    cause: str = ""  # why it starts, in words for people
    timeout_s: float | None = None
    no_progress_timeout_s: float | None = None
    # Given what a failed task said: the right that it names and that the run was refused for want
    # of, with the way out. Empty where it names none.
    missing_right: Callable[[str, Sequence[str]], str] = lambda *_: ""
    # The Secrets that the run was answered with since this was called last; from any thread.
    seen_secrets: Callable[[], Sequence[Json]] = tuple
    # Keys of spec that the play does not get as variables; see `spec_keys`.
    withheld: Set[str] = frozenset()
    # Its variables beside those of the watch, instead of all that the CR brings; never templated.
    variables: Json | None = None
    is_awaited: bool = False  # a client waits for its answer: it goes first, and gathers no facts
    # Makes what reads the tasks of one attempt to run it; None: there is no `answer`.
    read_tasks: Callable[[], PlayReader] | None = None
    folder: Path | None = None  # its private folder, below the root; None: the CR's
    # Called with each event in the run's thread, before the loop has it and before `leave_beside`.
    note_event: OnEvent = lambda _: None
    # Called with the artifacts folder when the play has ended, before the run is said to have: to leave
    # more there; in the run's thread.
    leave_beside: Callable[[Path], None] = lambda _: None
    # Of a play that only plans: where its child notes what it left out. It runs warm or not at all.
    plan_notes: Path | None = None
    # What it leaves while it waits, where it runs warm; None: it has none, and need not report.
    slot: RunSlot | None = None


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event of ansible-runner, as it came, already redacted."""

    name: str  # `runner_on_ok`, `playbook_on_stats` ...
    counter: int
    created: str
    stdout: str
    data: Mapping[str, Any]
    place: str = ""  # of the task that it is about: `roles/app/tasks/main.yml:12`
    at_s: float = 0.0  # when it happened, on the clock that never jumps


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A task that failed and that nothing rescued."""

    message: str  # `res.msg`, or the Go operator's text where there is none; redacted
    task: str
    place: str  # `roles/app/tasks/main.yml:12`
    host: str = "localhost"
    # What the message alone leaves open: the first failed item's message, the end of stderr; redacted.
    detail: str = ""
    # When it began, where a time limit ended the run in it: `22:41:07 UTC`.
    since: str = ""


@dataclass(frozen=True, slots=True)
class Recap:
    """The stats event, for host `localhost` only, as the Go operator counts."""

    ok: int = 0
    changed: int = 0
    skipped: int = 0
    failures: int = 0
    completion: str = ""  # `2026-11-21T09:13:44.5+00:00`


@dataclass(frozen=True, slots=True)
class RunResult:
    run_id: str
    ending: Ending
    rc: int | None
    recap: Recap | None = None
    failures: Sequence[
        TaskFailure
    ] = ()  # of a run that a time limit ended: the task that it was at
    # Why a run that has no recap came to nothing, in one line for the CR's user; redacted.
    reason_text: str = ""
    changed_tasks: Sequence[str] = ()  # `place: task name`, in order
    report_tasks: Set[str] = frozenset()  # those of them that wrote only status or Events
    requeue_after_s: float | None = None
    # Why it may have left out some of what it does, though it succeeded: a failure that was ignored or
    # rescued, an `end_play`. Empty: it came to the end of its tasks.
    cut_short: str = ""
    recap_stdout: str = ""  # the recap block that the log prints
    artifacts: Path | None = None
    started_late_s: float = 0.0  # from request to the process being there
    seconds: float = 0.0
    # Of all its processes that had ended by then; None: unknown.
    cpu_s: float | None = None
    way: str = "stock"  # which runner really ran it: `stock` or `warm`
    # How many tasks went which way: inline, in-process, forked, stock; empty: they were not counted.
    tasks_by_way: Mapping[str, int] = field(default_factory=dict)
    answer: object = None  # what the reader of its tasks made of them; not redacted: never log it
    # The first thing that the play used and that is no function of its inputs, with its task; empty:
    # it depends on the object, the project's files, `variables` of the environment, and the API.
    impure: str = "it ran stock, where what a play uses is not recorded"
    variables: Set[str] = frozenset()

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.FINISHED and not self.failures


OnEvent = Callable[[RunEvent], None]


class WarmState(Enum):
    """Whether the warm way may be trusted with the ansible-core that is installed."""

    KNOWN = "known"  # its code is what the hooks were written against
    PROVING = "proving"  # it is not, and plays are compared in the background
    PROVEN = "proven"  # they were equal
    REFUSED = "refused"  # they were not, or could not be played


@dataclass(frozen=True, slots=True)
class WarmSupport:
    """Which way plays go here, and why."""

    state: WarmState
    reason: str = ""


# May be called from any thread.
OnWarmSupport = Callable[[WarmSupport], None]


class RunHandle(Protocol):
    async def result(self) -> RunResult:
        """Wait for the end; cancelling this wait ends the run with all its processes."""
        ...

    async def result_before_tidying(self) -> RunResult:
        """The same, as soon as it is known: `latest` and rotation of artifacts may come after it.

        The CR's next run begins when they are done.
        """
        ...

    def cancel(self, reason: str) -> None:
        """End all processes of the run; `result` then says CANCELLED."""
        ...

    def freeze(self) -> None:
        """Stop all processes of the run before this returns; only `cancel` may follow."""
        ...


class Runner(Protocol):
    """Something that runs plays. Both ways promise: same inputs, artifacts, events and result."""

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        """Start a run. A run that cannot start still yields a handle, whose result says why."""
        ...

    async def close(self) -> None: ...


class EngineRunner(Runner, Protocol):
    """A runner as an engine needs it, which asks it about runs before they start."""

    on_way_change: Callable[[], None]  # called, on the loop, when `bytes_of` changed for a kind

    def bytes_of(self, terms: PlayTerms) -> int:
        """The memory that a run on these terms would take if it began now."""
        ...

    async def warm_up(self, plays: Sequence[PlayTerms]) -> None:
        """Get ready for the first run, where a run would otherwise have to wait."""
        ...


# One of the engine's seams: `create_runner`, or what a test puts in its place.
MakeRunner = Callable[[RunnerSettings, OnWarmSupport], EngineRunner]
