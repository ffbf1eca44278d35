"""Metrics of shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rolecall.extending import MetricsView
from rolecall.metrics import MASTER_STATUS, MetricKind, MetricSpec

SHARDS = MetricSpec(
    "rolecall_shards",
    MetricKind.GAUGE,
    (),
    "Into how many shards replicas divide the CRs; 0: not at all.",
)
SHARDS_HELD = MetricSpec(
    "rolecall_shards_held",
    MetricKind.GAUGE,
    (),
    "Shards that this replica has; the sum over all replicas is `rolecall_shards`.",
)
SHARDS_UNHELD = MetricSpec(
    "rolecall_shards_unheld",
    MetricKind.GAUGE,
    (),
    "Shards that, as this replica sees it, have had no holder for longer than the lease time, so that"
    " their CRs wait.",
)
SHARDS_STANDBY = MetricSpec(
    "rolecall_shards_standby",
    MetricKind.GAUGE,
    (),
    "1 while this replica takes no shards: others work with another number of shards or watch other"
    " CRs, or the Leases cannot be read. `readyz?verbose` says which.",
)
SHARD_MEMBERS = MetricSpec(
    "rolecall_shard_members",
    MetricKind.GAUGE,
    (),
    "Live replicas that divide the shards, as this one sees it.",
)
SHARD_CHANGES = MetricSpec(
    "rolecall_shard_changes_total",
    MetricKind.COUNTER,
    ("change",),
    "Shards that this replica took (`taken`), began to hand over to another one (`leaving`), or lost"
    " at once (`lost`).",
)
RUNS_FROZEN = MetricSpec(
    "rolecall_runs_frozen_total",
    MetricKind.COUNTER,
    (),
    "Runs that were stopped at once and killed, because the shard of their CR was lost.",
)
SHARD_METRICS = (
    SHARDS,
    SHARDS_HELD,
    SHARDS_UNHELD,
    SHARDS_STANDBY,
    SHARD_MEMBERS,
    SHARD_CHANGES,
    RUNS_FROZEN,
)
_CHANGES = ("taken", "leaving", "lost")


@dataclass(frozen=True, slots=True)
class ShardFigures:
    """How the CRs are divided, as this replica sees it."""

    count: int
    held: int = 0  # by this replica
    unheld: int = 0  # without a holder, for longer than the lease time
    members: int = 0
    is_standby: bool = False  # this replica takes none


class ShardCounts:
    """Counts what happens to shards, and shows at each scrape how they are divided."""

    def __init__(self, metrics: MetricsView) -> None:
        self._metrics = metrics
        for change in _CHANGES:
            metrics.of(SHARD_CHANGES, change=change)

    def changed(self, change: str, shards: int) -> None:
        """So many were `taken`, are `leaving`, or were `lost`."""
        self._metrics.of(SHARD_CHANGES, change=change).inc(shards)

    def runs_frozen(self, runs: int) -> None:
        """So many runs had to end at once with their shard."""
        self._metrics.of(RUNS_FROZEN).inc(runs)

    def show(self, look: Callable[[], ShardFigures], lease: str) -> None:
        """`lease` names the Leases of all replicas."""
        of = self._metrics.of

        def refresh() -> None:
            now = look()
            of(SHARDS).set(now.count)
            of(SHARDS_HELD).set(now.held)
            of(SHARDS_UNHELD).set(now.unheld)
            of(SHARDS_STANDBY).set(now.is_standby)
            of(SHARD_MEMBERS).set(now.members)
            of(MASTER_STATUS, name=lease).set(now.held > 0)

        self._metrics.before_scrape(refresh)
