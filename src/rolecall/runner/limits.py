"""How long a run may take, and how long it may say nothing; the same for both ways of running it."""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.runner.contract import Ending, RunRequest
from rolecall.settings import RunnerSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """None does not limit."""

    timeout_s: float | None = None
    no_progress_timeout_s: float | None = None

    @classmethod
    def of(cls, request: RunRequest, settings: RunnerSettings) -> Limits:
        """A run's own limits, else the engine's; zero switches a limit off."""
        return cls(
            _effective(request.timeout_s, settings.timeout_s),
            _effective(request.no_progress_timeout_s, settings.no_progress_timeout_s),
        )

    def left_s(self, now: float, started: float, progress: float) -> float | None:
        """Seconds until the next one passes, negative when it has; None: none ever will."""
        ends = [
            since + limit_s
            for limit_s, since in (
                (self.timeout_s, started),
                (self.no_progress_timeout_s, progress),
            )
            if limit_s is not None
        ]
        return min(ends) - now if ends else None

    def passed(self, now: float, started: float, progress: float) -> tuple[Ending, str] | None:
        """The limit that a run has passed, in words for the CR's owner."""
        if self.timeout_s is not None and now >= started + self.timeout_s:
            return (
                Ending.TIMED_OUT,
                f"the play took longer than {self.timeout_s:g} s, so it was ended",
            )
        silence_s = self.no_progress_timeout_s
        if silence_s is not None and now >= progress + silence_s:
            return Ending.NO_PROGRESS, f"the play said nothing for {silence_s:g} s, so it was ended"
        return None


def _effective(own_s: float | None, default_s: float | None) -> float | None:
    effective_s = default_s if own_s is None else own_s
    return effective_s if effective_s and effective_s > 0 else None
