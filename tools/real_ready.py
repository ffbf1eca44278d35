"""Make this machine ready for the tests of real nodes, and say whether it is.

    .venv/bin/python -m tools.real_ready

For `.ci/run`: packages that are missing are installed where root can. Exit code 3 and one line mean
that real nodes cannot run here: another kernel, no root, a container without privileges.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from rolecall_dev import localcluster
from tools import image_archive

NOT_HERE = 3


def what_is_missing() -> str:
    """Empty when nodes can run and images can be built; else one line with the way out."""
    return localcluster.what_is_missing() or image_archive.what_is_missing()


def install_packages() -> None:
    """What can be had from Debian; whatever comes of it, the look afterwards tells."""
    packages = [*localcluster.missing_packages(), *image_archive.missing_packages()]
    if not packages or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *packages)):
        subprocess.run(["apt-get", "-qq", *command], env=environment, check=False)


def main() -> int:
    """Zero when the tests can run."""
    install_packages()
    if lack := what_is_missing():
        print(f"tests of real nodes are left out: {lack}")
        return NOT_HERE
    return 0


if __name__ == "__main__":
    sys.exit(main())
