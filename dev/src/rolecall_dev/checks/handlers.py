"""The handlers of kopf that watches name: read as text, held against the kinds of the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rolecall.handler_files import KnownKind, check_handlers
from rolecall.watches import Watch
from rolecall_dev.checks.crds import Crd
from rolecall_dev.sources import Findings

_DEPLOYED = "config"
_DIVIDED = ("- --shards", '- "--shards')


def check_handler_files(
    watches: Sequence[Watch], crds: Sequence[Crd], cwd: Path, findings: Findings
) -> None:
    """Add what would keep a handler from being called."""
    asked: dict[Path, list[KnownKind]] = {}
    for watch in watches:
        for file in watch.python_files:
            asked.setdefault(file, []).append(_known(watch, crds))
    if not asked:
        return
    problems = check_handlers(asked, cwd)
    findings.problems.extend(replace(problem, rule=findings.rule) for problem in problems)
    if _is_divided(cwd):
        findings.notes.append(
            "with shards, the holder of the first shard runs the handlers of all objects, and only runs"
            " of its own shards wait for them"
        )


def _known(watch: Watch, crds: Sequence[Crd]) -> KnownKind:
    names = next((crd.names for crd in crds if crd.serves(watch.gvk)), {})
    if not names:
        return KnownKind(watch.gvk)
    singular = names.get("singular") or watch.gvk.kind.lower()
    more = (*(names.get("shortNames") or ()), *(names.get("categories") or ()))
    return KnownKind(watch.gvk, frozenset({str(names.get("plural", "")), singular, *more}))


def _is_divided(cwd: Path) -> bool:
    files = (cwd / _DEPLOYED).rglob("*.yaml")
    lines = (line for file in files for line in file.read_text(errors="replace").splitlines())
    return any(line.strip().startswith(_DIVIDED) for line in lines)
