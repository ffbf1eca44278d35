"""One line of what was looked at: it is fine, something must be done, or it could not be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DiagnosisState(Enum):
    """How it is; the text is what people and programs read."""

    OK = "ok"
    TO_DO = "do"
    NOT_LOOKED = "-"  # because of something else, which has a line of its own


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was seen, and the way out where there is something to do."""

    state: DiagnosisState
    what: str
    way_out: str = ""


def done(what: str) -> Diagnosis:
    """It is fine."""
    return Diagnosis(DiagnosisState.OK, what)


def to_do(what: str, way_out: str = "") -> Diagnosis:
    """Something must be done."""
    return Diagnosis(DiagnosisState.TO_DO, what, way_out)


def not_looked(why: str) -> Diagnosis:
    """Nothing is known."""
    return Diagnosis(DiagnosisState.NOT_LOOKED, why)
