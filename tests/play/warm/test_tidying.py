"""The result does not wait for what is tidied after a run; the CR's next run does."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from rolecall.history import read_run
from rolecall.runner import recording
from rolecall.runner.artifacts import rotate
from tests.play.warm.runs import PATIENCE_S, debug, request_for, until, workshop


async def test_result_is_there_before_old_runs_are_removed_and_the_next_run_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotating, may_go_on = threading.Event(), threading.Event()

    def slowly(*arguments: object) -> object:
        rotating.set()
        may_go_on.wait(PATIENCE_S)
        return rotate(*arguments)  # type: ignore[arg-type]

    async with workshop(tmp_path) as shop:
        role = shop.role("fine", [debug("fine")])
        await shop.run(role)
        monkeypatch.setattr(recording, "rotate", slowly)
        try:
            first, _ = await shop.start(role, keep_artifacts=1)
            early = await asyncio.wait_for(first.result_before_tidying(), PATIENCE_S)
            await until(rotating.is_set, "the first run to be at its tidying")
            assert (early.succeeded, early.way) == (True, "warm")
            assert early.artifacts is not None and early.tasks_by_way
            assert read_run(early.artifacts).outcome == "succeeded"
            assert (early.artifacts / "rc").read_text() == "0"
            assert (early.artifacts.parent / "run-1").exists()
            second, _ = await shop.start(role, keep_artifacts=1)
            other = await shop.runner.start(
                request_for(role, "other", tmp_path, name="two"), lambda _: None
            )
            assert (await other.result_before_tidying()).succeeded
            assert not (early.artifacts.parent / "run-3").exists()
        finally:
            may_go_on.set()
        result = await second.result()
        assert (result.succeeded, result.way) == (True, "warm")
        assert await first.result() == early
        kept = sorted(path.name for path in early.artifacts.parent.iterdir())
        assert kept == ["latest", "run-3"]
