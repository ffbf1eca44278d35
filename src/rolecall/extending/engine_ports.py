"""What an engine knows and does, for the parts that show it; all of it is read on the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rolecall.clock import Clock
from rolecall.election import KeyDivision
from rolecall.gvk import Gvk
from rolecall.reconcile import PauseNote, Progress
from rolecall.workqueue import Cause, Delayed, Key, Waiting


class KnownCr(Protocol):
    """A CR as its watch knows it."""

    @property
    def generation(self) -> int | None: ...

    @property
    def is_paused(self) -> bool: ...

    @property
    def pause_note(self) -> PauseNote | None:
        """Who paused it, when and why; None: it is not paused."""
        ...

    @property
    def is_deleted(self) -> bool:
        """Whether it waits for its finalizers."""
        ...

    @property
    def is_selected(self) -> bool:
        """Whether the watch's selector wants it."""
        ...


# By namespace and name. Of ten thousand CRs a copy of this takes no time, and keys take some.
KnownByPlace = Mapping[tuple[str, str], KnownCr]


def by_key(known: Mapping[Gvk, KnownByPlace]) -> dict[Key, KnownCr]:
    """The CRs that count; better called in a thread."""
    return {
        Key(gvk, namespace, name): each
        for gvk, places in known.items()
        for (namespace, name), each in places.items()
        if each.is_selected
    }


@dataclass(frozen=True, slots=True)
class LoggedLine:
    number: int  # higher than those before
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Act:
    """What an extension did last for a CR beside its runs."""

    name: str
    place: str  # file and line
    outcome: str  # running, succeeded, retry, failed or cancelled
    why: str
    seconds: float
    at: datetime
    failures: int = 0  # in a row
    lines: Sequence[LoggedLine] = ()  # the newest, oldest first

    @property
    def is_bad(self) -> bool:
        return self.outcome in ("failed", "retry")


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What does not change while an engine lives."""

    version: str
    pid: int
    began: datetime
    kinds: Sequence[Gvk]
    server: str  # of the cluster
    kubeconfig: str = ""  # KUBECONFIG with absolute paths; empty: unset


@dataclass(frozen=True, slots=True)
class EnginePorts:
    facts: EngineFacts
    clock: Clock
    plurals: Callable[[], Mapping[Gvk, str]]
    known: Callable[[], Mapping[Gvk, KnownByPlace]]  # a copy
    in_flight: Callable[[], Mapping[Key, Progress]]
    waiting: Callable[[], Sequence[Waiting]]
    delayed: Callable[[], Sequence[Delayed]]
    leads: Callable[[], bool]  # whether this replica may write, maybe for a part of the CRs
    leader: Callable[[], str]  # who does where this replica does not; empty: not known
    reconcile: Callable[[Key, Cause], None]  # at once
    acts: Callable[[], Mapping[Key, Sequence[Act]]]  # beside runs; a copy
    stop: Callable[[Key, str], None]  # its run in flight; and who asks for it
    division: KeyDivision | None = None  # None: one replica has all CRs
