"""What is installed for runs: there, not too old, and known to us."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from rolecall.errors import InputError
from rolecall.runner import require_installed, version_of
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings

_NEEDED = ("ansible-core", "ansible-runner", "kubernetes")


async def look_at_versions(_surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all is there, else one for each that is not."""
    try:
        warnings = require_installed()
    except InputError as error:
        return [to_do(error.message, error.hint)]
    if warnings:
        return [to_do(warning) for warning in warnings]
    found = [f"{name} {version_of(name)}" for name in _NEEDED if version_of(name)]
    return [done(", ".join([f"Python {platform.python_version()}", *found]))]
