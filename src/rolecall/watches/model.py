"""A watch: one checked entry of `watches.yaml`, frozen, with every default filled in.

Whoever holds a `Watch` needs neither the file nor the environment any more: paths are resolved, the
per-kind overrides of the environment are applied, durations are numbers of seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk


@dataclass(frozen=True, slots=True)
class Play:
    """What to run: a role's folder or a playbook's file."""

    path: Path
    is_role: bool
    # `namespace.collection.role` where the watch named it so: it then runs inside its collection,
    # so that short names of that collection's modules resolve.
    fqcn: str = ""


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
class AdmissionRule:
    """One CEL expression, which the API server checks by itself."""

    rule: str
    message: str
    line: int = 0
    # With `self`: a validation rule of the CRD. Else one of a ValidatingAdmissionPolicy.
    is_of_schema: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """What the API server asks before it stores an object, and which requests it asks about."""

    play: Play | None = None  # None: rules alone
    line: int = 0
    operations: Sequence[str] = ("CREATE", "UPDATE")
    subresources: Sequence[str] = ()
    failure_policy: str = "Fail"
    timeout_s: int = 10
    match_conditions: Sequence[Mapping[str, str]] = ()  # name and expression
    # As the API has them, checked.
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    rules: Sequence[AdmissionRule] = ()


@dataclass(frozen=True, slots=True)
class Prune:
    """What may be deleted once a run no longer wants it."""

    kinds: frozenset[Gvk] = frozenset()  # deleted only where they are named, such as claims
    is_foreground: bool = False
    even_if_listed: bool = False  # also what the run saw in a list
    is_report: bool = False  # say what would be deleted, and delete nothing
    good_runs: int = 2  # in a row, that must not want an object before it is deleted
    limit_percent: int = 30  # of what a CR has; a run that would delete more deletes nothing
    fleet_limit: int = 50  # of all CRs of the watch within an hour, as for one run; 0: none
    tasks: frozenset[str] = frozenset()  # that run programs, and ask for all they want in each run


@dataclass(frozen=True, slots=True)
class Watch:
    """One kind and all that the operator's author said of it."""

    gvk: Gvk
    play: Play
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
    is_concurrency_set: bool = False  # by somebody; else it is the number of CPUs
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
    skip_unchanged: bool = False  # no run at a period or restart where it could only do the same
    max_skip_s: float | None = None  # None: ten periods, at most a day
    ready_condition: bool = True  # the `Ready` condition and `observedGeneration`
    prune: Prune | None = None  # None: nothing is ever deleted
    # Kinds of which what a play read brings its CR back: none where None, all where empty.
    watch_reads: frozenset[Gvk] | None = None
    # Whether keys of spec that the CRD does not declare override what the role itself sets.
    spec_overrides_role: bool = False
    is_observed: bool = False  # `mode: observe`: plans instead of runs
    validate: Admission | None = None
    mutate: Admission | None = None

    @property
    def plays(self) -> tuple[Play, ...]:
        """All that may be run: for a CR, or before one is stored."""
        return (*self.cr_plays, *self.admission_plays)

    @property
    def cr_plays(self) -> tuple[Play, ...]:
        """All that may be run for a CR."""
        last = self.finalizer.play if self.finalizer is not None else None
        return (self.play,) if last is None else (self.play, last)

    @property
    def admission_plays(self) -> tuple[Play, ...]:
        """All that may be run before an object is stored: they only read."""
        asked = (it.play for it in (self.mutate, self.validate) if it is not None)
        return tuple(play for play in asked if play is not None)
