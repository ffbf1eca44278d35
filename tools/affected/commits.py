"""Which paths changed: since CI_BASE, since the main branch of origin, or in the last day of commits.

A fresh clone does not know which commit was tested before. So without CI_BASE, and where HEAD is on
origin's main branch already, the commits of the 24 hours before HEAD count, by HEAD's own date: the
choice for a commit is the same at any time.
"""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timedelta

from tools.placement import ROOT

_LAST = timedelta(hours=24)
_MAIN = "refs/remotes/origin/main"


def base() -> tuple[str, str]:
    """A commit, and how it was found; an empty commit where all of them count."""
    if asked := os.environ.get("CI_BASE"):
        return _git("merge-base", asked, "HEAD"), f"CI_BASE={asked}"
    head = _git("rev-parse", "HEAD")
    main = _git("for-each-ref", "--format=%(objectname)", _MAIN)
    if main and (shared := _git("merge-base", main, head)) != head:
        return shared, "the commit that is on origin's main branch too"
    ended = datetime.fromisoformat(_git("show", "--no-patch", "--format=%cI", head))
    before = _git("rev-list", "-1", f"--before={(ended - _LAST).isoformat()}", head)
    return before, "the last commit that is a day older than HEAD"


def changed_paths(since: str) -> list[str]:
    """Paths that differ, of what is there and what is gone."""
    if not since:
        return _git("ls-files").splitlines()
    return _git("diff", "--name-only", "--no-renames", since, "HEAD").splitlines()


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
