"""Which play a map of watches.yaml names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Play:
    """What to run: a role's folder or a playbook's file."""

    path: Path
    is_role: bool
    # `namespace.collection.role` where the watch named it so: it then runs inside its collection,
    # so that short names of that collection's modules resolve.
    fqcn: str = ""

    def __bool__(self) -> bool:
        """Whether there is one at all: something else may act in its place."""
        return self != NO_PLAY


NO_PLAY = Play(Path(), is_role=False)
