"""Whether the engine would start with the watches.yaml of this folder."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.errors import ProblemsError
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings


async def look_at_project(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """What is wrong with it is told line by line by `rolecall check`; here is the first."""
    fault = surroundings.watches_fault
    file = surroundings.settings.watches_file
    if isinstance(fault, ProblemsError):
        return [
            to_do(f"{problem.file}:{problem.line}: {problem.what}", problem.hint)
            for problem in fault.problems
            if not problem.is_warning
        ]
    if fault is not None:
        return [to_do(fault.message, fault.hint)]
    number = len(surroundings.watches)
    return [done(f"{file} names {number} kind{'s' * (number != 1)}")]
