"""Stand-ins for what tests of the engine's side of the warm runner cannot wait for."""

from __future__ import annotations

from typing import Any, ClassVar

from rolecall.clock import SystemClock
from rolecall.runner.warm.fingerprint import Fingerprint


class SteppedClock(SystemClock):
    """Stands still unless a test moves it."""

    def __init__(self) -> None:
        self._now_s = 1000.0

    def monotonic(self) -> float:
        return self._now_s

    def step(self, seconds: float) -> None:
        """Let time pass."""
        self._now_s += seconds


class FakeHost:
    """A host as `Hosts` sees it; serves at once unless its start is made to fail."""

    next_fails: ClassVar[str] = ""
    next_is_lasting: ClassVar[bool] = False
    next_has_died: ClassVar[bool] = False
    all_die: ClassVar[bool] = False

    def __init__(
        self,
        fingerprint: Fingerprint,
        _environment: Any,
        _cwd: Any,
        clock: SteppedClock,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.fingerprint = fingerprint
        self.started = clock.monotonic()
        self.trusted = trusted
        self.served = self.rss = self.rss_at_start = 0
        self.is_stale = self.is_proven = False
        self.is_ready = self.is_alive = True
        self.is_lasting = False
        self.problem = ""
        self.unknown: Any = None
        self.has_died = FakeHost.next_has_died or FakeHost.all_die
        if FakeHost.all_die:
            self.fail("it was killed")
        if FakeHost.next_fails:
            self.fail(FakeHost.next_fails)
            self.is_lasting = FakeHost.next_is_lasting
        FakeHost.next_fails = ""
        FakeHost.next_is_lasting = FakeHost.next_has_died = False

    def fail(self, problem: str) -> None:
        """It could not start."""
        self.problem, self.is_ready, self.is_alive = problem, False, False

    def wait_ready(self, _timeout_s: float) -> bool:
        return self.is_ready

    def retire(self) -> None:
        self.is_alive = False

    def kill(self) -> None:
        self.is_alive = False

    def close(self, _timeout_s: float) -> None:
        self.is_alive = False
