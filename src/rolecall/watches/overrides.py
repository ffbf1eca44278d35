"""What the environment says of one kind: concurrency and verbosity, which the file cannot set.

The variable's name is built as the Go operator builds it, so that an OLM Subscription's settings keep
working: kind and group in capitals, dots as underscores, dashes as they are, nothing after the last
underscore for the core group. An invalid value is logged, and the default taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall.documents import Report
from rolecall.gvk import Gvk

_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOST_VERBOSE = 7


@dataclass(frozen=True, slots=True)
class WatchDefaults:
    """What the flags say, for what an entry leaves open."""

    reconcile_period_s: float = 36000.0
    max_concurrent_reconciles: int = 1  # the caller knows how many CPUs there are
    is_concurrency_set: bool = False  # a flag says it
    verbosity: int = 2
    max_runner_artifacts: int = 20


@dataclass(frozen=True, slots=True)
class EntryContext:
    """All that an entry's meaning depends on besides its own text."""

    environment: Mapping[str, str]
    defaults: WatchDefaults
    cwd: Path
    project: Path  # the folder with watches.yaml
    is_image_elsewhere: bool = False  # absolute paths are looked up in the project, too


def variable_name(prefix: str, gvk: Gvk) -> str:
    """The environment variable of a setting for a kind; the version has no part in it."""
    return f"{prefix}_{gvk.kind}_{gvk.group}".replace(".", "_").upper()


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many objects of a kind are reconciled at once."""

    limit: int
    is_set: bool  # by the user


def concurrency(
    gvk: Gvk, environment: Mapping[str, str], defaults: WatchDefaults, report: Report
) -> Concurrency:
    default = max(defaults.max_concurrent_reconciles, 1)
    name = variable_name("MAX_CONCURRENT_RECONCILES", gvk)
    old_name = variable_name("WORKER", gvk)
    if name not in environment and old_name in environment:
        report.warn_environment(f"{old_name} is deprecated", hint=f"set {name} instead")
        name = old_name
    value = _whole(name, environment, report)
    if value is not None and value <= 0:
        report.warn_environment(f"{name} `{value}` is not above zero, so {default} was used")
        value = None
    if value is None:
        return Concurrency(default, defaults.is_concurrency_set)
    return Concurrency(value, is_set=True)


def verbosity(gvk: Gvk, environment: Mapping[str, str], default: int, report: Report) -> int:
    """How many `v` Ansible is given for the kind."""
    name = variable_name("ANSIBLE_VERBOSITY", gvk)
    value = _whole(name, environment, report)
    if value is not None and not 0 <= value <= _MOST_VERBOSE:
        report.warn_environment(
            f"{name} `{value}` is not between 0 and {_MOST_VERBOSE}, so {default} was used"
        )
        value = None
    return default if value is None else value


def _whole(name: str, environment: Mapping[str, str], report: Report) -> int | None:
    text = environment.get(name)
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        report.warn_environment(f"{name} `{text}` is not a whole number, so the default was used")
        return None
    return int(text)
