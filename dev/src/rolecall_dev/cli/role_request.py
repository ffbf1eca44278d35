"""A run that somebody asked for by `rolecall run-role`."""

from __future__ import annotations

from dataclasses import dataclass, field

from rolecall.runner import RunRequest
from rolecall.watches import Watch


@dataclass(frozen=True, slots=True)
class RoleRequest(RunRequest):
    """A run, and the watch that its access to the cluster and its variables follow."""

    watch: Watch = field(kw_only=True)
