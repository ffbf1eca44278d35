"""Make this machine ready for the tests of real nodes, and say whether it is.

    .venv/bin/python -m tools.real_ready

For `.ci/run`: packages that are missing are installed where root can. Exit code 3 and one line mean
that real nodes cannot run here: another kernel, no root, a container without privileges.
"""

from __future__ import annotations

import sys

from rolecall_dev import localcluster
from tools import debian_packages, image_archive

NOT_HERE = 3


def what_is_missing() -> str:
    """Empty when nodes can run and images can be built; else one line with the way out."""
    return localcluster.what_is_missing() or image_archive.what_is_missing()


def main() -> int:
    """Zero when the tests can run."""
    debian_packages.install([*localcluster.missing_packages(), *image_archive.missing_packages()])
    if lack := what_is_missing():
        print(f"tests of real nodes are left out: {lack}")
        return NOT_HERE
    return 0


if __name__ == "__main__":
    sys.exit(main())
