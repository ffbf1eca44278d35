"""The condition `Drifted`: whether a run would change anything, of a CR that is observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.status import (
    FALSE,
    TRUE,
    UNKNOWN,
    Conditions,
    condition,
    conditions_of,
    find,
    set_in_place,
    with_conditions,
)

DRIFTED = "Drifted"
_REASONS = {TRUE: "RunWouldChange", FALSE: "RunWouldChangeNothing", UNKNOWN: "NotKnown"}


@dataclass(frozen=True, slots=True)
class Observed:
    """A plan was made instead of a run; so many objects would be changed by one."""

    objects: int
    message: str
    generation: int | None
    is_known: bool = True

    @property
    def status(self) -> str:
        if not self.is_known:
            return UNKNOWN
        return TRUE if self.objects else FALSE

    def __call__(self, cr: Json, now: str) -> Json:
        made = condition(DRIFTED, self.status, _REASONS[self.status], self.message)
        if self.generation is not None:
            made["observedGeneration"] = self.generation
        return with_conditions(cr, set_in_place(conditions_of(cr), made, now))


@dataclass(frozen=True, slots=True)
class DriftApplied:
    """A run applied what an observer had missed."""

    on_written: Callable[[], None] = lambda: None

    def __call__(self, conditions: Conditions, now: str) -> list[Json]:
        old = find(conditions, DRIFTED)
        if old is None or old.get("status") == FALSE:
            return list(conditions)
        made = condition(DRIFTED, FALSE, "RunSucceeded", "A run has applied everything since")
        return set_in_place(conditions, made, now)

    def written(self) -> None:
        self.on_written()
