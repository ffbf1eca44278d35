"""Finds the CRs of which runs are kept below an artifacts folder, and their runs.

The layout is the Go operator's: `<root>/<group>/<version>/<Kind>/<namespace>/<name>/artifacts/<run>`;
core kinds have no group, and cluster-scoped ones no namespace. Runs of further clusters lie below
`.clusters/<cluster>` of the same folder.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.history.artifacts import as_lost, has_begun, read_run
from rolecall.history.processes import is_gone
from rolecall.history.run import KeptRun

_OTHER_CLUSTERS = ".clusters"
_ARTIFACTS = "artifacts"
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")
_DEEPEST = 5  # group, version, kind, namespace, name
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KeptCr:
    """A CR of which there is a folder; the CR itself may be gone."""

    api_version: str
    kind: str
    namespace: str
    name: str
    folder: Path
    server: str | None = None  # only runs on the cluster of this API server; None: all

    @property
    def artifacts(self) -> Path:
        return self.folder / _ARTIFACTS

    def runs(self, most: int | None = None) -> list[KeptRun]:
        """Its runs, newest first; with `most`, only so many of those whose folders changed last."""
        found = islice(self._read(), most)
        runs = sorted(found, key=lambda run: run.began or _LONG_AGO, reverse=True)
        return [as_lost(run) if index and _is_past(run) else run for index, run in enumerate(runs)]

    @property
    def has_runs(self) -> bool:
        return next(self._read(), None) is not None

    def _read(self) -> Iterator[KeptRun]:
        """A folder may have been another cluster's before, whose CR had the same name."""
        for folder in sorted(_folders(self.artifacts), key=_changed_at, reverse=True):
            if has_begun(folder):
                run = read_run(folder)
                if self.server is None or run.server in ("", self.server):
                    yield self._named(run)

    def _named(self, run: KeptRun) -> KeptRun:
        """Whose it is says its folder; the file may be a copy."""
        return replace(
            run,
            api_version=self.api_version,
            kind=self.kind,
            namespace=self.namespace,
            name=self.name,
        )


def roots_of(artifacts_dir: Path) -> list[Path]:
    """The folder itself, and those of further clusters whose engines shared it."""
    return [artifacts_dir, *_folders(artifacts_dir / _OTHER_CLUSTERS)]


def kept_crs(
    root: Path,
    kind: str = "",
    name: str = "",
    namespace: str | None = None,
    server: str | None = None,
) -> list[KeptCr]:
    """The CRs below one root, in order; where something is given, only those that match.

    A kind may be written small. None stands for every namespace, and for every API server; with one,
    CRs without a run on its cluster are left out.
    """
    found = [
        replace(cr, server=server)
        for cr in each_kept_cr(root)
        if not kind or cr.kind.lower() == kind.lower()
        if not name or cr.name == name
        if namespace is None or cr.namespace == namespace
    ]
    if server is not None:
        found = [cr for cr in found if cr.has_runs]
    return sorted(found, key=lambda cr: (cr.kind, cr.namespace, cr.name, cr.api_version))


def each_kept_cr(root: Path) -> Iterator[KeptCr]:
    """All CRs below one root, one after the other, in no order."""
    for folder in _below(root, _DEEPEST):
        if (folder / _ARTIFACTS).is_dir() and (
            cr := _cr_of(folder, folder.relative_to(root).parts)
        ):
            yield cr


def with_id(runs: Sequence[KeptRun], beginning: str) -> list[KeptRun]:
    """The run with this id; else all whose ids begin so."""
    exact = [run for run in runs if run.run == beginning]
    return exact or [run for run in runs if run.run.startswith(beginning)]


def kept_cr(root: Path, gvk: Gvk, namespace: str, name: str) -> KeptCr:
    """A CR by its name, whether anything of it is kept or not."""
    parts = [part for part in (gvk.group, gvk.version, gvk.kind, namespace, name) if part]
    return KeptCr(gvk.api_version, gvk.kind, namespace, name, root.joinpath(*parts))


def _is_past(run: KeptRun) -> bool:
    """One CR has one run at a time: an older one that says it is running does so no more.

    Unless its engine lives: another one on the same folder may have tried, and was refused.
    """
    return run.outcome == "running" and is_gone(run.engine) is None


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for each in _folders(folder):
        yield each
        if depth > 1 and each.name != _ARTIFACTS:
            yield from _below(each, depth - 1)


def _folders(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [
            folder / entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    return []


def _cr_of(folder: Path, parts: Sequence[str]) -> KeptCr | None:
    """By what lies between the root and a CR's folder; None: it is none."""
    has_group = len(parts) > 1 and _VERSION.fullmatch(parts[1]) is not None
    group, rest = (parts[0], parts[1:]) if has_group else ("", parts)
    match rest:
        case [version, kind, name]:
            namespace = ""
        case [version, kind, namespace, name]:
            pass
        case _:
            return None
    return KeptCr(f"{group}/{version}" if group else version, kind, namespace, name, folder)


def _changed_at(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
