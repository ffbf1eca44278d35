"""The interface of extensions: each step of the core at which one may act, as a method to override.

The entry point names a class. `begin` makes one instance for each engine; the host calls only the
methods that a class overrides, so an extension costs nothing where it does not act.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from rolecall.acting import RightToAct
from rolecall.clock import Clock
from rolecall.election import Election
from rolecall.extending.engine_ports import Act, EnginePorts
from rolecall.extending.foreseen import CommandView, Foresee, Foreseen
from rolecall.extending.last_runs import LastRuns
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.metrics import FigureRow, MetricSpec, ProbeCheck
from rolecall.proxy import FollowRun, Owner, ProcessAccess, RunFollower, World
from rolecall.reactor import DependentInformers, Sink
from rolecall.reconcile import (
    NOT_FOLLOWED,
    BegunRun,
    EndedRun,
    EventRecorder,
    Outcome,
    RunAccess,
    RunFindings,
    SpecKeyFilter,
    TakenTurn,
    TurnView,
)
from rolecall.runner import Runner
from rolecall.settings import Settings
from rolecall.status import ConditionEdit
from rolecall.supervisor import Supervisor
from rolecall.watches import ExtensionKeys, Watch
from rolecall.webhooks import Webhook
from rolecall.workqueue import Cause, Key, Turn

T = TypeVar("T")
# Runs until it is cancelled; begun anew when it fails.
BackgroundPart = Callable[[], Awaitable[None]]


# How a process reaches the API server for CRs of these watches, by this right.
IssueProcessAccess = Callable[
    [str, Sequence[Watch], RightToAct], AbstractAsyncContextManager[ProcessAccess]
]
IssueWorldAccess = Callable[[str, Json, Watch, World], AbstractAsyncContextManager[RunAccess]]
# The `AdmissionReview` with its `response`; raises `NoVerdictError`.
GiveVerdict = Callable[[Json], Awaitable[Json]]
# The kubeconfig of a run, by its id, while the context lasts.
IssueAccess = Callable[[str, Json, Watch], AbstractAsyncContextManager[RunAccess]]


class MetricsView(Protocol):
    """Where the metrics of an extension live, once its class names them in `metrics`."""

    def of(self, name: MetricSpec, /, **labels: str) -> Any:
        """A counter, gauge or histogram of prometheus_client."""

    def read_late(self, name: MetricSpec, rows: Callable[[], Iterable[FigureRow]]) -> None:
        """Ask for the figures at each scrape, in a thread."""

    def before_scrape(self, refresh: Callable[[], None]) -> None:
        """Call this before each scrape, on the loop."""


@dataclass(frozen=True, slots=True)
class ElectionView:
    """What an engine gives the election, which is made before all that may write."""

    settings: Settings
    watches: Sequence[Watch]
    clock: Clock
    client: Client  # writes on every replica
    metrics: MetricsView
    supervisor: Supervisor
    weight: int  # how many runs may be in flight here


class FindInFlight(Protocol):
    """What is published of each run in flight, by its type, as known by now."""

    def __call__(self, kind: type[T], /) -> Mapping[Key, T]: ...


@dataclass(frozen=True, slots=True)
class EngineView:
    """What an engine gives its extensions."""

    version: str
    settings: Settings
    environment: Mapping[str, str]
    watches: Sequence[Watch]
    clock: Clock
    client: Client  # writes only while this replica may
    leading_client: Client  # writes only while this replica leads
    unfenced_client: Client  # writes on every replica
    election: Election
    events: EventRecorder
    metrics: MetricsView
    supervisor: Supervisor
    keys: Sink
    dependents: DependentInformers
    is_listed: Callable[[], bool]  # every watched kind was listed once
    runner: Runner
    issue_read_access: IssueAccess  # for a play that may only read
    issue_access_to_world: IssueWorldAccess  # for one that a world answers
    issue_access_to_process: IssueProcessAccess
    # No turn of a CR begins while the context lasts; waits until the one that has begun is over.
    held: Callable[[Key], AbstractAsyncContextManager[None]]
    foresee: Foresee  # what all extensions would do after a run
    acted: Callable[[Key, Act], None]  # what an extension did, for those that follow it
    reviewer_of: Callable[[Webhook], GiveVerdict | None]
    spec_keys: SpecKeyFilter
    findings_in_flight: FindInFlight
    last_runs: LastRuns  # of each CR, as it is kept on disk
    inspected: Callable[[], EnginePorts]  # what the engine knows and is at, once it opens
    files: Mapping[str, Path]  # that were read at the start alone, by what people call them
    # A CR's turn comes at once, past its delay or backoff.
    retry: Callable[[Key, Cause], None]
    # The CR's next run is made, whatever is known of the last one.
    run_again: Callable[[Key], None]


@dataclass(slots=True)
class Endpoints:
    """The ports of an engine, and what decides whether it is ready."""

    ports: dict[str, int] = field(default_factory=dict)
    # `/readyz` fails while a check returns a reason; notes are shown and change nothing.
    checks: dict[str, ProbeCheck] = field(default_factory=dict)
    notes: dict[str, ProbeCheck] = field(default_factory=dict)
    # Group and kind of those that can be listed only after this replica is ready.
    late_kinds: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BindAddress:
    """Where something of the engine listens; empty or `0`: nowhere."""

    what: str
    address: str
    flag: str  # that chooses it


@dataclass(frozen=True)
class EndedTurn:
    """A turn that is over: it had a run, or its CR is gone."""

    turn: Turn
    outcome: Outcome
    ended_s: float  # on the clock that never jumps

    @cached_property
    def findings(self) -> RunFindings:
        """What is published of its run."""
        trail = self.outcome.trail
        return RunFindings(trail.followed if trail is not None else NOT_FOLLOWED)


class Extension:
    """Does nothing at any step."""

    name: ClassVar[str]
    # Extensions that are asked before this one, where they are loaded.
    after: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[type, ...]] = ()  # findings of others, without which it does nothing
    publishes: tuple[type, ...] = ()  # findings of the followers that `follow` gives
    metrics: ClassVar[tuple[MetricSpec, ...]] = ()
    watch_keys: ClassVar[type[ExtensionKeys] | None] = None  # its keys in watches.yaml

    def __init__(self, engine: EngineView) -> None:
        self.engine = engine

    @classmethod
    def files(cls, settings: Settings) -> Mapping[str, Path]:  # noqa: ARG003 - for those that override it
        """The files that it reads at the start, by what people call them; a change is logged."""
        return {}

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Check these files before a cluster is reached; raises `ProblemsError`."""

    @classmethod
    def addresses(
        cls,
        settings: Settings,  # noqa: ARG003 - as above
        watches: Sequence[Watch],  # noqa: ARG003
    ) -> Sequence[BindAddress]:
        """Where it would listen; `rolecall doctor` looks whether these are free."""
        return []

    @classmethod
    def elect(cls, engine: ElectionView) -> Election | None:  # noqa: ARG003 - as above
        """An election of its own; None: its settings ask for none."""
        return None

    @classmethod
    def begin(cls, engine: EngineView) -> Self | None:
        """An instance for this engine; None: its settings ask for nothing of this extension."""
        return cls(engine)

    def open(self, endpoints: Endpoints) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - as above
        """Open listeners for as long as the engine runs. What this raises ends the start."""
        return nullcontext()

    def parts(self) -> Mapping[str, BackgroundPart]:
        """What runs as long as the engine does, by name; asked after `open`."""
        return {}

    def on_leading_change(self) -> None:
        """This replica began or ceased to do what there is one of for all replicas."""

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:  # noqa: ARG002 - as above
        """Do something else in a turn, before anything is written; None: go on to its run.

        What this raises ends the turn, as the run may be what must not happen.
        """
        return None

    async def why_no_run(self, turn: TurnView) -> str:  # noqa: ARG002 - for those that override it
        """Why a turn needs no run; empty: make it. What this raises makes the run."""
        return ""

    def follow(self, run: BegunRun) -> RunFollower | None:  # noqa: ARG002 - as above
        """Follow a run: what its play asks for and reports, and what is to be kept of it."""
        return None

    @classmethod
    def follows(cls, command: CommandView) -> FollowRun | None:  # noqa: ARG003 - as above
        """`follow` for a command."""
        return None

    async def run_ended(self, run: EndedRun) -> None:
        """A run ended by itself; its CR is still in hand, and its end is not in status yet."""

    def condition_edit(self, run: EndedRun) -> ConditionEdit | None:  # noqa: ARG002 - as above
        """What follows from a run for a condition of its own; written with how the run ended."""
        return None

    async def foresee(self, run: EndedRun) -> Foreseen:  # noqa: ARG002 - for those that override it
        """What `run_ended` would do after a run that was only planned; writes nothing."""
        return Foreseen()

    @classmethod
    def foresees(cls, command: CommandView) -> Foresee | None:  # noqa: ARG003 - as above
        """`foresee` for a command; None: it would do nothing."""
        return None

    def run_again(self, key: Key) -> None:
        """The last run of a CR says nothing of the next: it was stopped, or left something to do."""

    def acted(self, key: Key, act: Act) -> None:
        """An extension did something for a CR, beside its runs."""

    def acts(self) -> Mapping[Key, Sequence[Act]]:
        """What it did last for each CR, beside runs; a copy."""
        return {}

    def reviewer(self, webhook: Webhook) -> GiveVerdict | None:  # noqa: ARG002 - as above
        """Who answers this question of the API server; None: not this extension, or a play."""
        return None

    async def was_owned(self, owner: Owner, uid: str) -> bool:  # noqa: ARG002 - as above
        """Whether an object without an owner had this one, and gets it back when the run is over."""
        return False

    def on_kinds_change(self) -> None:
        """A CRD came, changed or went."""

    async def on_gone(self, key: Key) -> None:
        """A CR is gone."""

    async def sweep(self) -> None:
        """Tidy up after CRs that went while no engine looked."""

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        """Another replica acted for these CRs, or acts from now on."""

    def has_unwritten(self, part: int) -> bool:  # noqa: ARG002 - as above
        """Whether something of this part is to be written before another replica takes it."""
        return False

    async def write_parts(self, parts: Collection[int]) -> None:
        """Write what is kept of these parts, which are handed over to other replicas."""

    def forget_parts(self, parts: Collection[int]) -> None:
        """Another replica had these parts, or has them now."""

    def begin_end(self) -> None:
        """The engine begins to stop; its runs go on."""

    async def stop(self) -> None:
        """The engine stops, and its runs are over; connections are still open."""

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        """Turns ended within the last second; called in a thread, one call at a time."""

    def close(self, timeout_s: float) -> None:
        """The engine stops, and no turn ends any more; called in a thread."""
