"""How long a run may take, and how long it may say nothing; the same for both ways of running it."""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.documents import format_duration
from rolecall.runner.contract import Ending, RunRequest
from rolecall.settings import RunnerSettings

_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """None does not limit."""

    timeout_s: float | None = None
    no_progress_timeout_s: float | None = None

    @classmethod
    def of(cls, request: RunRequest, settings: RunnerSettings) -> TimeLimits:
        """A run's own limits, else the engine's; zero switches a limit off."""
        return cls(
            _effective(request.timeout_s, settings.timeout_s),
            _effective(request.no_progress_timeout_s, settings.no_progress_timeout_s),
        )

    def next_end(self, began_s: float, progress_s: float) -> tuple[float, Ending, str] | None:
        """When the next one passes, and why that ends the run; None: none ever will."""
        ends: list[tuple[float, Ending, str]] = []
        if (limit_s := self.timeout_s) is not None:
            why = f"longer than {_spoken(limit_s)}"
            ends.append((began_s + limit_s, Ending.TIMED_OUT, why))
        if (limit_s := self.no_progress_timeout_s) is not None:
            why = f"no output for {_spoken(limit_s)}"
            ends.append((progress_s + limit_s, Ending.NO_PROGRESS, why))
        return min(ends, key=lambda end: end[0], default=None)


def _spoken(seconds: float) -> str:
    """`6 s`, `1h30m`: a limit as people say it."""
    if seconds < _MINUTE_S:
        return f"{seconds:g} s"
    text = format_duration(seconds)
    text = text.removesuffix("0s") if text.endswith("m0s") else text
    return text.removesuffix("0m") if text.endswith("h0m") else text


def _effective(own_s: float | None, default_s: float | None) -> float | None:
    effective_s = default_s if own_s is None else own_s
    return effective_s if effective_s and effective_s > 0 else None
