"""A bug of ours in a run's thread must reach the caller that waits for the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.runner import RunRequest, followed, terms_of
from rolecall.runner.stock import StockRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch


async def test_bug_in_a_run_is_raised_instead_of_hanging_its_key_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("bug")

    monkeypatch.setattr(followed, "prepare", broken)
    watch = Watch(Gvk("demo.example.com", "v1", "App"), Play(tmp_path, is_role=True))
    request = RunRequest(
        "1", terms_of(watch), {"metadata": {"name": "x"}}, False, tmp_path / "kubeconfig", 0, 1
    )
    stock = StockRunner(RunnerSettings(root=tmp_path))
    run = await stock.start(request, lambda _event: None)
    with pytest.raises(KeyError, match="bug"):
        await run.result()
    await stock.close()
