"""Make this machine ready for the tests in a browser, and say whether it is.

    .venv/bin/python -m tools.browser_ready

For `.ci/run`: Debian's Chromium is installed where root can. Else one line says what is left out, and
with exit code 3 the tests are.
"""

from __future__ import annotations

import shutil
import sys

from tools import debian_packages

NOT_HERE = 3
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# A page in a browser without any font has no letters.
_PACKAGES = ("chromium", "fonts-dejavu-core")


def browser() -> str:
    """The program's path; empty where there is none."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), "")


def what_is_missing() -> str:
    """Empty when a browser is here; else one line with the way out."""
    if browser():
        return ""
    return f"no Chromium was found; `apt-get install {' '.join(_PACKAGES)}` brings it"


def main() -> int:
    """Zero when the tests can run."""
    if not browser():
        debian_packages.install(_PACKAGES)
    if lack := what_is_missing():
        print(f"tests in a browser are left out: {lack}")
        return NOT_HERE
    return 0


if __name__ == "__main__":
    sys.exit(main())
