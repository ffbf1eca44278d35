"""An engine whose environment has no rolecall-warm."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from rolecall.runner import Ending, why_stock
from tests.play.plays import Workspace, play


@pytest.fixture
def without_warm_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `find_spec` sees an environment that does not have the package."""
    monkeypatch.setitem(sys.modules, "rolecall_warm", None)


@pytest.mark.usefixtures("without_warm_host")
def test_runs_are_stock_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "rolecall.runner.choice"):
        played = play(Workspace(tmp_path, way="warm"), "quick")
    assert (played.result.ending, played.result.way) == (Ending.FINISHED, "stock")
    (record,) = caplog.records
    assert record.getMessage() == "every run starts ansible-playbook anew"
    assert record.__dict__["fields"]["reason"] == why_stock()
    assert why_stock().startswith("rolecall-warm is not installed: `")
