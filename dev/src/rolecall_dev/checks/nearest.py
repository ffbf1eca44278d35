"""The known name that is most similar to a misspelled one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The nearest one; empty where none is near."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.65)
    return found[0] if found else ""


def meant(name: str, known: Iterable[str]) -> str:
    """For the end of a message."""
    near = nearest(name, known)
    return f"; did you mean `{near}`?" if near else ""
