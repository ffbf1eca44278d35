"""How metrics show shards, and what happens to them."""

from __future__ import annotations

import pytest

from rolecall.extensions.shards.figures import SHARD_METRICS, ShardCounts, ShardFigures
from rolecall.metrics import EngineMetrics
from tests.unit.metrics.test_engine_metrics import samples


@pytest.fixture
def metrics() -> EngineMetrics:
    return EngineMetrics("1.2", more=SHARD_METRICS)


def test_replica_with_a_shard_counts_as_leading(metrics: EngineMetrics) -> None:
    figures = [ShardFigures(64, held=22, unheld=3, members=2)]
    counts = ShardCounts(metrics)
    counts.show(lambda: figures[-1], "app")
    counts.changed("taken", 22)
    counts.runs_frozen(2)
    found = samples(metrics)
    names = ("rolecall_shards", "rolecall_shards_held", "rolecall_shards_unheld")
    assert [found[name] for name in names] == ["64.0", "22.0", "3.0"]
    assert found["rolecall_shard_members"] == "2.0"
    assert found['rolecall_shard_changes_total{change="taken"}'] == "22.0"
    assert found['rolecall_shard_changes_total{change="lost"}'] == "0.0"
    assert found["rolecall_runs_frozen_total"] == "2.0"
    assert found['leader_election_master_status{name="app"}'] == "1.0"
    figures.append(ShardFigures(64))
    assert samples(metrics)['leader_election_master_status{name="app"}'] == "0.0"


def test_without_shards_their_number_is_zero(metrics: EngineMetrics) -> None:
    found = samples(metrics)
    assert found["rolecall_shards"] == "0.0"
    assert "leader_election_master_status" not in " ".join(found)
