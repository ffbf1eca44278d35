"""The interface of extensions: each step of the core at which one may act, as a method to override.

The entry point names a class. `begin` makes one instance for each engine; the host calls only the
methods that a class overrides, so an extension costs nothing where it does not act.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

from rolecall.clock import Clock
from rolecall.kube import Client
from rolecall.metrics import FigureRow, MetricSpec
from rolecall.reconcile import EventRecorder, Outcome
from rolecall.record import RunRecord
from rolecall.settings import Settings
from rolecall.watches import Watch
from rolecall.workqueue import Turn

# Runs until it is cancelled; begun anew when it fails.
BackgroundPart = Callable[[], Awaitable[None]]


class MetricsView(Protocol):
    """Where the metrics of an extension live, once its class names them in `metrics`."""

    def of(self, name: MetricSpec, /, **labels: str) -> Any:
        """A counter, gauge or histogram of prometheus_client."""

    def read_late(self, name: MetricSpec, rows: Callable[[], Iterable[FigureRow]]) -> None:
        """Ask for the figures at each scrape, in a thread."""


@dataclass(frozen=True, slots=True)
class EngineView:
    """What an engine gives its extensions."""

    version: str
    settings: Settings
    environment: Mapping[str, str]
    watches: Sequence[Watch]
    clock: Clock
    client: Client  # writes only while this replica may
    events: EventRecorder
    metrics: MetricsView


@dataclass(frozen=True)
class EndedTurn:
    """A turn that is over: it had a run, or its CR is gone."""

    turn: Turn
    outcome: Outcome
    ended_s: float  # on the clock that never jumps

    @cached_property
    def record(self) -> RunRecord | None:
        """What its run read and wrote; None: there was none, or none was kept."""
        trail = self.outcome.trail
        return trail.notes.record() if trail is not None and trail.notes is not None else None


class Extension:
    """Does nothing at any step."""

    name: ClassVar[str]
    # Extensions that are asked before this one, where they are loaded.
    after: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[tuple[MetricSpec, ...]] = ()

    def __init__(self, engine: EngineView) -> None:
        self.engine = engine

    @classmethod
    def begin(cls, engine: EngineView) -> Self | None:
        """An instance for this engine; None: its settings ask for nothing of this extension."""
        return cls(engine)

    def parts(self) -> Mapping[str, BackgroundPart]:
        """What runs as long as the engine does, by name."""
        return {}

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        """Turns ended within the last second; called in a thread, one call at a time."""

    def close(self, timeout_s: float) -> None:
        """The engine stops, and no turn ends any more; called in a thread."""
