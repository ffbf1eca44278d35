"""Looks at whatever an operator needs where it shall run, and says for each thing: fine, or what to do.

Each look is a small module with one function. `examine` runs them side by side, each with a time limit;
what one of them meets never hides the others.
"""

from rolecall_dev.doctor.looks import LOOKS, UNINSTALL_LOOKS, Look, examine
from rolecall_dev.doctor.surroundings import (
    Diagnosis,
    DiagnosisState,
    Surroundings,
    done,
    to_do,
)

__all__ = [
    "LOOKS",
    "UNINSTALL_LOOKS",
    "Diagnosis",
    "DiagnosisState",
    "Look",
    "Surroundings",
    "done",
    "examine",
    "to_do",
]
