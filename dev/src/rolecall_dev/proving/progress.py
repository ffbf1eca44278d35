"""How far a test is, in one line: a test of half an hour that says nothing looks as if it hung.

What is under way longest is named with its time, since that is what a reader waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rolecall.clock import Clock, SystemClock


@dataclass(slots=True)
class ProofProgress:
    samples: int
    known: int = 0  # samples whose undisturbed life is known
    cases: int = 0
    decided: int = 0
    seen_once: int = 0  # problems that are tried a second time when all cases were tried
    is_second: bool = False  # those are under way
    tried_again: int = 0
    clock: Clock = field(default_factory=SystemClock)
    _began: dict[str, float] = field(default_factory=dict)  # of what is under way, in its order

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        self._began[name] = self.clock.monotonic()
        try:
            yield
        finally:
            self._began.pop(name, None)

    def told(self, seconds: float) -> str:
        """`12 of 84 cases, 1 problem seen once; 3 min 10 s; 40 s in Site/blog: edits: spec.size`."""
        said = f"{self._how_far()}; {shown_seconds(seconds)}"
        for name, began in self._began.items():
            return f"{said}; {shown_seconds(self.clock.monotonic() - began)} in {name}"
        return said

    def _how_far(self) -> str:
        if not self.cases:
            return f"undisturbed: {self.known} of {_several(self.samples, 'sample')}"
        if self.is_second and self.seen_once:
            return f"second tries: {self.tried_again} of {self.seen_once}"
        said = f"{self.decided} of {_several(self.cases, 'case')}"
        return (
            f"{said}, {_several(self.seen_once, 'problem')} seen once" if self.seen_once else said
        )


def shown_seconds(seconds: float) -> str:
    """`3 min 10 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
