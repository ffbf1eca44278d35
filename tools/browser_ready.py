"""Finds the browser for the tests of the page, and what is missing where there is none."""

from __future__ import annotations

import shutil

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# A page in a browser without any font has no letters.
PACKAGES = ("chromium", "fonts-dejavu-core")


def browser() -> str:
    """The program's path; empty where there is none."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), "")


def what_is_missing() -> str:
    """Empty when a browser is here; else one line with the way out."""
    if browser():
        return ""
    return f"no Chromium was found; `apt-get install {' '.join(PACKAGES)}` brings it"
