"""What the machine grants becomes limits of runs, by the way that they really take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.lifecycle import startup
from rolecall.settings import (
    ENGINE_BYTES,
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    QueueSettings,
    Settings,
    read_capacity,
)
from rolecall.watches import Play, Watch
from rolecall.workqueue import Limits
from tests.unit.workqueue.keys import APP

MIB = 1024 * 1024
WATCH = Watch(APP, Play(Path("/roles/app"), is_role=True))


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two CPUs and 768 Mi, as a container sees them."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "cgroup").write_text("0::/\n")
    (tmp_path / "memory.max").write_text(f"{768 * MIB}\n")
    (tmp_path / "cpu.max").write_text("200000 100000\n")
    monkeypatch.setattr(startup, "read_capacity", lambda: read_capacity(tmp_path, tmp_path))


def limits(settings: Settings, run_bytes: int) -> Limits:
    memory_bytes = startup.memory_for_runs(settings)
    runner = replace(settings.runner, memory_bytes=memory_bytes)
    return startup.limits_for(replace(settings, runner=runner), [WATCH], lambda _watch: run_bytes)


@pytest.mark.usefixtures("pod")
def test_eight_runs_of_which_each_may_turn_out_stock_have_their_memory_limited() -> None:
    found = limits(Settings(), STOCK_RUN_BYTES)
    assert (found.max_runs, found.memory_bytes) == (8, 768 * MIB - ENGINE_BYTES)
    assert found.run_bytes(APP) == STOCK_RUN_BYTES
    assert found.memory_bytes is not None
    assert found.memory_bytes // found.run_bytes(APP) == 3
    assert limits(Settings(), WARM_RUN_BYTES).run_bytes(APP) == WARM_RUN_BYTES


@pytest.mark.usefixtures("pod")
def test_as_many_runs_may_wait_beside_as_memory_takes_or_as_is_set() -> None:
    assert limits(Settings(), WARM_RUN_BYTES).max_waiting == 16
    asked = Settings(queue=QueueSettings(max_waiting=3))
    assert limits(asked, WARM_RUN_BYTES).max_waiting == 3


@pytest.mark.usefixtures("pod")
def test_no_stock_run_leaves_its_slot() -> None:
    stock = replace(Settings().runner, way="stock")
    asked = Settings(queue=QueueSettings(max_waiting=3), runner=stock)
    assert limits(asked, STOCK_RUN_BYTES).max_waiting == 0


@pytest.mark.usefixtures("pod")
def test_limit_of_a_kind_is_known_as_set_where_it_is_set() -> None:
    assert limits(Settings(), WARM_RUN_BYTES).set_kinds == frozenset()
    asked = replace(WATCH, max_concurrent_reconciles=1, is_concurrency_set=True)
    found = startup.limits_for(Settings(), [asked], lambda _watch: WARM_RUN_BYTES)
    assert found.set_kinds == {APP}


@pytest.mark.usefixtures("pod")
def test_number_that_is_set_is_used_as_it_is() -> None:
    found = limits(Settings(queue=QueueSettings(max_runs=5)), STOCK_RUN_BYTES)
    assert (found.max_runs, found.memory_bytes) == (5, None)
