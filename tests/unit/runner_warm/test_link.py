"""A host that cannot be had costs speed: the engine's side of it leaves nothing and says why."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rolecall.runner.warm import Hosts
from rolecall_base.processes import children_of
from tests.unit.runner_warm.fakes import SteppedClock


def test_run_goes_the_stock_way_where_no_thread_can_be_started_for_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "warm-host":
            raise RuntimeError("can't start new thread")
        usual(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children_of(os.getpid())
    run: Any = SimpleNamespace(env=dict(os.environ), cwd=tmp_path)
    assert "can't start new thread" in str(Hosts(SteppedClock()).host_for(run))
    assert children_of(os.getpid()) == before
    assert not list(tmp_path.iterdir())
