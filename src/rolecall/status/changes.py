"""What a turn does to `.status`, as values: made once, applied to whatever object is there to write.

A change is applied again when a write met a conflict, so it must not depend on when it is called, and
it touches two keys only: `conditions` and `observedGeneration`. The latter is set when a turn is over,
never when it starts: clients compare it with the object's generation to know whether conditions are
about what they applied, and an old Failure must not pass for that of a new generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rolecall.json_object import Json
from rolecall.status import ansible_conditions as ansible
from rolecall.status import own_conditions as own
from rolecall.status.ansible_conditions import FALSE, TRUE, UNKNOWN, Conditions


class StatusChange(Protocol):
    """Something that happened, and that status reports."""

    def __call__(self, cr: Json, now: str) -> Json:
        """The whole status that `cr` shall have; `cr` itself stays as it is."""


class ConditionEdit(Protocol):
    """What an extension changes in its own conditions, in the write that reports how a run ended."""

    def __call__(self, conditions: Conditions, now: str) -> list[Any]:
        """Those that there shall be; called again where a write met a conflict."""

    def written(self) -> None:
        """It is written now."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run came to, in the words of conditions."""

    succeeded: bool
    reason: str = ansible.FAILED
    message: str = ""
    ansible_result: Mapping[str, Any] | None = None
    ready_message: str = ""  # of a failure, where `Ready` reports it in other words than `Failure`


@dataclass(frozen=True, slots=True)
class Started:
    """A run is about to start."""

    has_ready: bool = True

    def __call__(self, cr: Json, now: str) -> Json:
        conditions = own.resumed(conditions_of(cr), now)
        if self.has_ready:
            observed = status_of(cr).get("observedGeneration")
            ready = own.ready_while_running(conditions, observed, generation_of(cr))
            conditions = own.with_ready(conditions, ready, now) if ready else conditions
        return with_conditions(cr, ansible.running(conditions, now))


@dataclass(frozen=True, slots=True)
class InFlight:
    """A run goes on for long, and at what: "task `X` (tasks/main.yml:3) since 22:41:07 UTC"."""

    at: str

    def __call__(self, cr: Json, now: str) -> Json:  # noqa: ARG002 - no transition
        return with_conditions(cr, ansible.in_flight(conditions_of(cr), self.at))


@dataclass(frozen=True, slots=True)
class Ended:
    """A run is over; `generation` is the one that it saw."""

    verdict: Verdict
    generation: int | None
    has_ready: bool = True
    not_converging: str | None = None  # see `own.not_converging`
    edits: Sequence[ConditionEdit] = ()

    def __call__(self, cr: Json, now: str) -> Json:
        verdict = self.verdict
        conditions = own.not_converging(conditions_of(cr), self.not_converging, now)
        if self.has_ready:
            write = own.with_ready if verdict.succeeded else own.with_failed_ready
            conditions = write(conditions, self._ready(cr), now)
        for edit in self.edits:
            conditions = edit(conditions, now)
        if verdict.succeeded:
            conditions = ansible.success(conditions, verdict.ansible_result, now)
        else:
            result = verdict.ansible_result
            conditions = ansible.failure(conditions, verdict.reason, verdict.message, result, now)
        return with_conditions(cr, conditions, self.generation if self.has_ready else None)

    def _ready(self, cr: Json) -> Json:
        verdict, current = self.verdict, generation_of(cr)
        if current != self.generation:
            word = "succeeded" if verdict.succeeded else "failed"
            text = f"Generation {current} awaits its run; that of {self.generation} {word}"
            return own.ready(UNKNOWN, own.READY_WAITING, text, current)
        if verdict.succeeded:
            return own.ready(
                TRUE,
                own.READY_SUCCEEDED,
                ansible.SUCCESS_MESSAGE,
                self.generation,
            )
        reason = own.READY_PREFIX + verdict.reason
        message = verdict.ready_message or verdict.message
        return own.ready(FALSE, reason, message, self.generation)


@dataclass(frozen=True, slots=True)
class NotRun:
    """No run could be started, and why."""

    message: str
    has_ready: bool = True

    def __call__(self, cr: Json, now: str) -> Json:
        conditions: Conditions = conditions_of(cr)
        generation = generation_of(cr) if self.has_ready else None
        if self.has_ready:
            reason = own.READY_PREFIX + ansible.FAILED
            ready = own.ready(FALSE, reason, self.message, generation)
            conditions = own.with_failed_ready(conditions, ready, now)
        return with_conditions(cr, ansible.error(conditions, self.message, now), generation)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The engine ended the run: what it would have come to is not known."""

    message: str

    def __call__(self, cr: Json, now: str) -> Json:
        return with_conditions(cr, ansible.cancelled(conditions_of(cr), self.message, now))


@dataclass(frozen=True, slots=True)
class Paused:
    message: str

    def __call__(self, cr: Json, now: str) -> Json:
        return with_conditions(cr, own.paused(conditions_of(cr), self.message, now))


def status_of(cr: Json) -> Json:
    """The object's status; empty where it has none that is a map."""
    status = cr.get("status")
    return status if isinstance(status, dict) else {}


def conditions_of(cr: Json) -> list[Any]:
    """The object's conditions; empty where it has none that are a list."""
    conditions = status_of(cr).get("conditions")
    return conditions if isinstance(conditions, list) else []


def generation_of(cr: Json) -> int | None:
    """The object's generation; None for kinds that have none."""
    generation = cr["metadata"].get("generation")
    return generation if isinstance(generation, int) and generation > 0 else None


def with_conditions(cr: Json, conditions: Conditions, generation: int | None = None) -> Json:
    """The whole status, with these; and with the generation that they are about."""
    status = {**status_of(cr), "conditions": list(conditions)}
    if generation is not None:
        status["observedGeneration"] = generation
    return status
