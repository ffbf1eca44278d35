"""Makes this machine ready for the tests of real nodes, and finds what is missing for them."""

from __future__ import annotations

from rolecall_dev import localcluster
from tools import debian_packages, image_archive


def what_is_missing() -> str:
    """Empty when nodes can run and images can be built; else one line with the way out."""
    return localcluster.what_is_missing() or image_archive.what_is_missing()


def install() -> None:
    """Install what is missing, where root can."""
    debian_packages.install([*localcluster.missing_packages(), *image_archive.missing_packages()])
