"""`rolecall run --dev` logs each saved file that matters, and what it needs.

A file that runs read needs nothing: each run reads its role anew, and the engine retries what failed in
a changed file in every mode. A CRD must be applied to the cluster. Samples, tests, manifests and other
files that no run reads are not logged; the engine itself warns of those that it reads at its start.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from rolecall.clock import Clock
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_PAUSE_S = 1.0
_MOST_FILES = 10_000
_NOT_OURS = frozenset({"collections", "__pycache__", "artifacts", "node_modules"})
_REPORTED = 5  # of a checkout of another branch, the first few say it all
_CRD = re.compile(r"^kind:\s*[\"']?CustomResourceDefinition\b", re.MULTILINE)
_LARGEST_CRD = 4 * 1024 * 1024
_INSTALLS = re.compile(r"^install\s*:", re.MULTILINE)
# Folders of a project that no run reads, and files beside watches.yaml that look like playbooks.
_FOLDERS_NOT_READ = frozenset(
    {"build", "bundle", "config", "crds", "docs", "handlers", "molecule", "tests"}
)
_NO_PLAYBOOKS = frozenset({"conversions.yaml", "requirements.yml", "rolecall-test.yaml"})
_PLAYBOOK_SUFFIXES = (".yml", ".yaml")


class FileStamps:
    """When each file of a project was changed last."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._stamps = self._read()

    def changed(self) -> list[str]:
        """Those that changed, came or went since the last time."""
        before, self._stamps = self._stamps, self._read()
        both = before.keys() | self._stamps.keys()
        return sorted(name for name in both if before.get(name) != self._stamps.get(name))

    def _read(self) -> dict[str, tuple[int, int]]:
        stamps = {}
        for path in self._files():
            try:
                found = path.stat()
            except OSError:
                continue
            stamps[str(path.relative_to(self._project))] = (found.st_mtime_ns, found.st_size)
        return stamps

    def _files(self) -> Iterator[Path]:
        number = 0
        for folder, below, names in os.walk(self._project):
            below[:] = [one for one in below if not (one.startswith(".") or one in _NOT_OURS)]
            for name in names:
                if not name.startswith(".") and not name.endswith(("~", ".swp", ".pyc")):
                    number += 1
                    yield Path(folder, name)
            if number > _MOST_FILES:
                return


def is_crd(file: Path) -> bool:
    """Whether a file holds a CRD; one that cannot be read does not. Blocking."""
    if file.suffix not in (".yaml", ".yml"):
        return False
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            return _CRD.search(text.read(_LARGEST_CRD)) is not None
    except OSError:
        return False


def how_to_install(project: Path, file: str) -> str:
    """The command that applies a CRD: the project's own, where its Makefile has one. Blocking."""
    try:
        has_target = _INSTALLS.search((project / "Makefile").read_text(errors="replace"))
    except OSError:
        has_target = None
    return "`make install`" if has_target else f"`kubectl apply -f {file}`"


def is_read_by_runs(file: str, watches_file: str) -> bool:
    """Whether a run may read it; `file` is relative to the project."""
    parts = Path(file).parts
    if len(parts) == 1:
        return file.endswith(_PLAYBOOK_SUFFIXES) and file not in (*_NO_PLAYBOOKS, watches_file)
    return parts[0] not in _FOLDERS_NOT_READ


async def log_changes(project: Path, watches_file: str, clock: Clock) -> None:
    """Look until cancelled."""
    stamps = await asyncio.to_thread(FileStamps, project)
    while True:
        await clock.sleep(_PAUSE_S)
        changed = await asyncio.to_thread(stamps.changed)
        await asyncio.to_thread(log_changed, project, watches_file, changed)


def log_changed(project: Path, watches_file: str, changed: Sequence[str]) -> None:
    """Log the files of these that matter. Blocking."""
    for file in changed:
        if is_crd(project / file):
            command = how_to_install(project, file)
            _logger.warning("CRD changed: %s", command, extra=log_fields(file=file))
    read = [file for file in changed if is_read_by_runs(file, watches_file)]
    for file in read[:_REPORTED]:
        _logger.info("file changed; the next run uses it", extra=log_fields(file=file))
    if len(read) > _REPORTED:
        more = log_fields(count=len(read) - _REPORTED)
        _logger.info("more files changed; the next run uses them", extra=more)
