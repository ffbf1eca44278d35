"""Installs packages of Debian as root; elsewhere it does nothing, and a later check fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence


def install(packages: Sequence[str]) -> None:
    """Quietly, and whatever comes of it: who needs them looks afterwards."""
    if not packages or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *packages)):
        words = ["apt-get", "-qq", *command]
        subprocess.run(words, env=environment, stdout=sys.stderr, check=False)
