"""Collections of a project: half installed or of another version is a warning, missing is a note.

A project may be checked where its collections are not, as in a review; what is there must be whole. A
strict check is that of a place where all must be there, so a missing one is a warning of it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rolecall.watches import Play, collection_faults, search_paths
from rolecall_dev.sources import Findings


def check_collections(
    plays: Sequence[Play],
    environment: Mapping[str, str],
    cwd: Path,
    project: Path,
    findings: Findings,
    *,
    is_strict: bool,
) -> None:
    """Look for those that requirements.yml or a task names."""
    search = search_paths(environment, cwd, project).collections
    faults = collection_faults(project, plays, search, sys.path)
    findings.problems.extend(faults.broken)
    if is_strict:
        findings.problems.extend(faults.missing)
        return
    findings.notes.extend(
        f"{fault.file}:{fault.line}: {fault.what}; {fault.hint}" for fault in faults.missing
    )
