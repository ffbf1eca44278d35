"""Bring the shells that completion is tested in, and name those that could not be had.

    export WITHOUT_SHELLS=$(.venv/bin/python -m tools.shells_ready)

For `.ci/run`. What is on stdout is left out by `tests/unit/cli/test_completion.py`; one line on stderr
says so. Each package has the name of its shell.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from tools import debian_packages

SHELLS = ("bash", "zsh", "fish")


def missing(shells: Sequence[str] = SHELLS) -> list[str]:
    """Those that are not on PATH."""
    return [shell for shell in shells if shutil.which(shell) is None]


def main() -> int:
    """Always zero: a machine may lack what nobody here can install."""
    debian_packages.install(missing())
    if lacking := " ".join(missing()):
        way_out = f"`apt-get install {lacking}`"
        print(f"completion is not tested in {lacking}: {way_out}", file=sys.stderr)
        print(lacking)
    return 0


if __name__ == "__main__":
    sys.exit(main())
