"""Makes the mark of an unknown ansible-core: a proof counts for that mark alone."""

from __future__ import annotations

import hashlib
import sys

import ansible.release


def mark_of(problems: list[str]) -> str:
    """Stands for these sources under this Python; every unknown one is named with its digest."""
    said = [ansible.release.__version__, sys.version, *sorted(problems)]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]


def may_be_proven(problems: list[str]) -> bool:
    """Whether a proof can decide: where a name is gone, a hook has nothing to stand in front of."""
    return all(" is unknown (" in problem for problem in problems)
