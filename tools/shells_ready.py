"""The shells that completion is tested in; each Debian package has the name of its shell."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

SHELLS = ("bash", "zsh", "fish")


def missing(shells: Sequence[str] = SHELLS) -> list[str]:
    """Those that are not on PATH."""
    return [shell for shell in shells if shutil.which(shell) is None]
