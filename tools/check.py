"""Run every check, say how long each took, and show what those that failed said.

    .venv/bin/python tools/check.py [NAME ...]          (`make check`)

All of them run, also after a failure, so that one run shows all complaints.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PYTHON_CODE = ("src", "base/src", "warm/src", "dev/src", "tests", "tools")

# Cheapest first. ansible-lint and yamllint know their files from their own configuration.
CHECKS = {
    "format": ("ruff", "format", "--check", "--quiet", "."),
    "lint": ("ruff", "check", "--quiet", "."),
    "words": ("codespell", "."),
    "layers": ("lint-imports", "--no-cache"),
    "names": ("python", "-m", "tools.names"),
    "rooms": ("python", "-m", "tools.architecture"),
    "glossary": ("python", "-m", "tools.glossary"),
    "affected": ("python", "-m", "tools.affected", "--check"),
    "yaml": ("yamllint", "--strict", "."),
    "types": ("mypy", *PYTHON_CODE),
    "kinds": ("python", "tools/check_crds.py"),
    "docs": ("python", "-m", "pytest", "--quiet", "--no-header", "tests/unit/house"),
    "roles": ("ansible-lint", "--offline", "--nocolor", "-q"),
}


def main(names: list[str]) -> int:
    """The number of checks that failed."""
    if unknown := [name for name in names if name not in CHECKS]:
        sys.exit(f"error: check `{unknown[0]}` is not one of {', '.join(CHECKS)}")
    return sum(not passes(name) for name in names or CHECKS)


def passes(name: str) -> bool:
    """Run one check."""
    program, *arguments = CHECKS[name]
    began = time.monotonic()
    result = subprocess.run(
        [str(BIN / program), *arguments],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = "ok" if result.returncode == 0 else "FAILED"
    print(f"check: {name:<8} {time.monotonic() - began:6.1f} s  {verdict}", flush=True)
    if result.returncode:
        print(result.stdout.strip(), flush=True)
    return result.returncode == 0


def environment() -> dict[str, str]:
    """Tools that start other tools find ours; Ansible finds the collections of this clone."""
    collections = os.pathsep.join(
        (str(ROOT / ".collections"), str(ROOT / "src" / "rolecall" / "collections"))
    )
    path = os.pathsep.join((str(BIN), os.environ.get("PATH", "")))
    return {**os.environ, "PATH": path, "ANSIBLE_COLLECTIONS_PATH": collections}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
