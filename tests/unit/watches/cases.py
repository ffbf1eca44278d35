"""The table of whole files, in tests/data/watches, as test cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import Problem, ProblemsError
from rolecall.extending import watch_keys
from rolecall.watches import (
    Finalizer,
    Play,
    Watch,
    WatchDefaults,
    load_watches,
)
from rolecall.webhooks import Admission
from tests.unit.watches.entries import different

DATA = Path(__file__).parents[2] / "data/watches"
DEFAULTS = WatchDefaults(max_concurrent_reconciles=4)


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    environment: Mapping[str, str] = field(default_factory=dict)
    gives: list[dict[str, Any]] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    warns: list[str] = field(default_factory=list)
    schema: str = ""
    unreadable: bool = False  # no data that a schema could be asked about


def read_cases(name: str) -> list[Case]:
    rows = yaml.safe_load((DATA / f"{name}.yaml").read_text())
    return [Case(**row) for row in rows]


@dataclass(frozen=True)
class Loaded:
    watches: list[Watch]
    errors: list[Problem]
    warnings: list[Problem]


def load(case: Case, project: Path) -> Loaded:
    (project / "watches.yaml").write_text(case.file)
    try:
        watches, found = load_watches(
            Path("watches.yaml"), case.environment, DEFAULTS, project, watch_keys()
        )
    except ProblemsError as error:
        watches, found = [], list(error.problems)
    errors = [problem for problem in found if not problem.is_warning]
    return Loaded(watches, errors, [problem for problem in found if problem.is_warning])


def described(watch: Watch, project: Path, names: list[str]) -> dict[str, Any]:
    """The named fields of a watch, or keys of extensions, in the words of the table."""
    return {
        name: _plain(getattr(watch, name), project)
        if hasattr(watch, name)
        else _asked(watch, name, project)
        for name in names
    }


def _asked(watch: Watch, name: str, project: Path) -> Any:
    """Of an extension: what differs from the key's bare `true`, or the key's own field."""
    having = (each for each in watch.of_extensions if name in [key.name for key in each.keys])
    if (asked := next(having, None)) is None:
        return None
    if hasattr(asked, name):
        return _plain(getattr(asked, name), project)
    return {
        field: _plain(value, project) for field, value in different(type(asked)(), asked).items()
    }


def _plain(value: Any, project: Path) -> Any:
    match value:
        case Play(path=path, is_role=is_role):
            return f"{'role' if is_role else 'playbook'} {path.relative_to(project)}"
        case Finalizer(name=name, play=play, vars=variables):
            return f"{name} {play and _plain(play, project)} {variables}"
        case Admission():
            words = (value.failure_policy, value.timeout_s, ",".join(value.operations))
            play = _plain(value.play, project)
            shown = " ".join(map(str, (play, *words, ",".join(value.subresources))))
            return {"asks": shown, "rules": [rule.is_of_schema for rule in value.rules]}
        case frozenset():
            return sorted(str(gvk) for gvk in value)
        case None | bool() | int() | float() | str() | dict():
            return value
    return str(value)
