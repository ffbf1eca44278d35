"""A watch: one checked entry of `watches.yaml`, frozen, with every default filled in.

A `Watch` needs neither the file nor the environment any more: paths are resolved, the
per-kind overrides of the environment are applied, durations are numbers of seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rolecall.gvk import Gvk
from rolecall.watches.extension_keys import ExtensionKeys, KeptThings
from rolecall.watches.play import Play

_Keys = TypeVar("_Keys", bound=ExtensionKeys)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One `matchExpressions` row of a label selector."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector; an empty one selects everything."""

    match_labels: Mapping[str, str] = field(default_factory=dict)
    match_expressions: Sequence[Requirement] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels belongs to the watch."""
        if any(labels.get(key) != value for key, value in self.match_labels.items()):
            return False
        return all(_meets(labels, row) for row in self.match_expressions)


def _meets(labels: Mapping[str, str], row: Requirement) -> bool:
    match row.operator:
        case "In":
            return labels.get(row.key) in row.values
        case "NotIn":
            return labels.get(row.key) not in row.values
        case "Exists":
            return row.key in labels
        case _:
            return row.key not in labels


@dataclass(frozen=True, slots=True)
class Finalizer:
    """What runs before a CR may go; `play` is None where the main play runs with `vars` added."""

    name: str
    play: Play | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Watch:
    """One kind and all that the operator's author said of it."""

    gvk: Gvk
    play: Play  # falsy where something else acts in its place
    line: int = 0  # where the entry starts in watches.yaml, for messages
    vars: Mapping[str, Any] = field(default_factory=dict)
    finalizer: Finalizer | None = None
    selector: Selector = field(default_factory=Selector)
    blacklist: frozenset[Gvk] = frozenset()
    # Effective values: entry over environment over flag, as in the Go operator.
    reconcile_period_s: float = 36000.0  # <= 0: no periodic reconcile
    max_runner_artifacts: int = 20
    verbosity: int = 2
    max_concurrent_reconciles: int = 1
    is_concurrency_set: bool = False  # by the user; else it is the number of CPUs
    manage_status: bool = True
    watch_dependent_resources: bool = True
    watch_cluster_scoped_resources: bool = False
    watch_annotations_changes: bool = False
    snake_case_parameters: bool = True
    # None: not said. CR text is then never templated; only an explicit False brings templating back.
    mark_unsafe: bool | None = None
    # Ours, all optional; unknown to the Go operator, which ignores unknown keys.
    runner: str | None = None  # `stock` or `warm`; None: as `--runner` says
    run_timeout_s: float | None = None  # None: as `--run-timeout` says
    no_progress_timeout_s: float | None = None
    dependents_delay_s: float | None = None  # None: as `--dependents-delay` says
    cancel_on_delete: bool = False
    cancel_on_change: bool = False
    ready_condition: bool = True  # the `Ready` condition and `observedGeneration`
    # Whether keys of spec that the CRD does not declare override what the role itself sets.
    spec_overrides_role: bool = False
    annotations: tuple[str, ...] = ()  # of CRs: a change of one brings a turn
    of_extensions: tuple[ExtensionKeys, ...] = ()  # what the keys of each ask for

    def extension(self, keys: type[_Keys]) -> _Keys | None:
        """What is asked of an extension; None: nothing."""
        return next((each for each in self.of_extensions if isinstance(each, keys)), None)

    @property
    def kept_things(self) -> tuple[KeptThings, ...]:
        """What extensions keep of its CRs in the operator's own namespace."""
        found = (each.kept_of(self.gvk.kind) for each in self.of_extensions)
        return tuple(each for each in found if each is not None)

    @property
    def has_optional_runs(self) -> bool:
        """Whether an extension may find that a turn needs no run."""
        return any(each.has_optional_runs for each in self.of_extensions)

    @property
    def python_files(self) -> tuple[Path, ...]:
        """Files in Python that act for its CRs, beside plays or in their place."""
        return tuple(file for each in self.of_extensions for file in each.python_files)

    @property
    def plays(self) -> tuple[Play, ...]:
        """All that may be run, for a CR or by an extension."""
        return (*self.cr_plays, *self.reading_plays)

    @property
    def cr_plays(self) -> tuple[Play, ...]:
        """All that may be run for a CR."""
        last = self.finalizer.play if self.finalizer is not None else None
        return tuple(play for play in (self.play, last) if play)

    @property
    def reading_plays(self) -> tuple[Play, ...]:
        """All that extensions may run: they only read."""
        return tuple(play for each in self.of_extensions for play in each.reading_plays)
