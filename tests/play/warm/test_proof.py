"""An unknown ansible-core proves itself; what differs goes the stock way, and says so."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rolecall.runner import RunResult, WarmState, WarmSupport, create_runner
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm import HostLimits
from rolecall.runner.warm.link import HostLink
from rolecall.runner.warm.trust import Trust
from rolecall.settings import RunnerSettings
from tests.fixtures.eventually import eventually, eventually_async
from tests.play.fidelity.harness import COLLECTIONS
from tests.play.warm.patched_core import COMMENT, END, GONE, OTHER, SAME, patch, patched_core
from tests.play.warm.runs import (
    PATIENCE_S,
    debug,
    kill,
    marked,
    request_for,
    until,
    workshop,
    write,
)

LOGGER = "rolecall.runner.warm.proof.prover"


class Engine:
    """A runner that proves, and what it reported."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        own = {"ANSIBLE_HOME": str(folder / "home"), "TMPDIR": str(folder)}
        settings = RunnerSettings(
            root=folder / "root",
            skip_facts=True,
            collections_path=str(COLLECTIONS),
            environment={**own, "PYTEST_CURRENT_TEST": "", **environment},
        )
        self.reported: list[WarmSupport] = []
        self.runner = create_runner(settings, self.reported.append)
        self._folder = folder
        self._count = 0

    async def run(self) -> RunResult:
        """One run of a small role."""
        role = self._folder / "roles" / "speaks"
        write(role / "tasks" / "main.yml", f"[{debug('hello')}]")
        self._count += 1
        request = request_for(role, f"run-{self._count}", self._folder)
        return await (await self.runner.start(request, lambda _event: None)).result()

    async def way(self) -> str:
        """The way of another run."""
        return (await self.run()).way

    async def state(self, wanted: WarmState) -> WarmSupport:
        """Wait until it came to this; a proof is niced, and the machine may be busy."""
        await eventually_async(
            lambda: [support.state for support in self.reported],
            lambda states: wanted in states or WarmState.REFUSED in states,
            timeout_s=900,
        )
        assert self.reported[-1].state is wanted, self.reported
        return self.reported[-1]


@asynccontextmanager
async def engine(folder: Path, environment: dict[str, str]) -> AsyncIterator[Engine]:
    one = Engine(folder, environment)
    try:
        yield one
    finally:
        await one.runner.close()


def nothing_is_left(folder: Path) -> bool:
    """No process and no temporary folder."""
    return not marked(str(folder)) and not list(folder.glob("rolecall-*"))


async def test_changed_comment_is_warm_at_once(tmp_path: Path) -> None:
    async with engine(tmp_path, patched_core(tmp_path, END, COMMENT)) as one:
        assert (await one.run()).way == "warm"
        assert [support.state for support in one.reported] == [WarmState.KNOWN]


@pytest.mark.nightly
async def test_function_that_does_the_same_is_proven_and_then_warm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    async with engine(tmp_path, patched_core(tmp_path, END, SAME)) as one:
        first = await one.run()
        assert first.succeeded and first.way == "stock"
        await one.state(WarmState.PROVEN)
        # On a busy machine a run does not wait until its host is warm.
        await eventually_async(one.way, lambda way: way == "warm", timeout_s=300)
    states = [support.state for support in one.reported]
    assert states == [WarmState.PROVING, WarmState.PROVEN]
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    # What was just killed is still there for a moment.
    await until(lambda: nothing_is_left(tmp_path), "all to be gone")


@pytest.mark.nightly
async def test_function_that_does_otherwise_goes_the_stock_way_and_says_what_differs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    async with engine(tmp_path, patched_core(tmp_path, END, OTHER)) as one:
        assert (await one.run()).way == "stock"
        reported = await one.state(WarmState.REFUSED)
        assert "patched" in reported.reason and "case `" in reported.reason
        assert (await one.run()).way == "stock"
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


async def test_name_that_is_gone_is_refused_without_a_proof(tmp_path: Path) -> None:
    async with engine(tmp_path, patched_core(tmp_path, *GONE)) as one:
        assert (await one.run()).way == "stock"
        assert "_make_tmp_path` is gone" in (await one.state(WarmState.REFUSED)).reason
        assert len(one.reported) == 1


@pytest.mark.nightly
async def test_refused_ansible_core_is_tried_again_when_its_files_change(tmp_path: Path) -> None:
    there, gone = GONE
    environment = patched_core(tmp_path, there, gone)
    limits = HostLimits(retry_s=0.0, start_wait_s=PATIENCE_S)
    async with workshop(tmp_path, limits, environment=environment) as shop:
        role = shop.role("speaks", [debug("hello")])
        assert [(await shop.run(role)).way for _ in range(2)] == ["stock", "stock"]
        patch(tmp_path, gone, there)
        assert (await shop.run(role)).way == "warm"


@pytest.mark.nightly
async def test_host_serves_what_was_proven_and_nothing_else(tmp_path: Path) -> None:
    environment = patched_core(tmp_path, END, SAME)
    limits = HostLimits(retry_s=0.0, start_wait_s=PATIENCE_S)
    async with workshop(tmp_path, limits, environment=environment) as shop:
        role = shop.role("speaks", [debug("hello")])
        trust = shop.hosts._trust = Reported()
        assert (await shop.run(role)).way == "stock"
        trust.marks = trust.met
        assert (await shop.run(role)).way == "warm"
        patch(tmp_path, SAME, OTHER)
        # It looks at ansible-core's files once a second at most.
        results = await eventually_async(lambda: shop.run(role), lambda run: run.way == "stock")
        assert results.succeeded


class Reported(Trust):
    """Trusts what the test says, and remembers what was met."""

    marks: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()

    def meet(self, host: HostLink, prepared: PreparedRun) -> str:
        mark = super().meet(host, prepared)
        self.met |= {mark}
        return mark


@pytest.mark.nightly
async def test_ending_the_engine_ends_a_proof_and_leaves_nothing(tmp_path: Path) -> None:
    async with engine(tmp_path, patched_core(tmp_path, END, SAME)) as one:
        await one.run()
        await until(lambda: list(tmp_path.glob("rolecall-engine-*/*-failing/stock")), "a run")
    await until(lambda: nothing_is_left(tmp_path), "all to be gone")


ENGINE = """
import asyncio
from pathlib import Path
from tests.play.warm.test_proof import engine

async def main():
    folder = Path({folder!r})
    async with engine(folder, {{"PYTHONPATH": {python!r}}}) as one:
        await one.run()
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.nightly
def test_killed_engine_takes_its_proof_along(tmp_path: Path) -> None:
    python = patched_core(tmp_path, END, SAME)["PYTHONPATH"]
    program = ENGINE.format(folder=str(tmp_path), python=python)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as process:
        folders = "rolecall-engine-*/*-failing/stock"
        eventually(lambda: list(tmp_path.glob(folders)), timeout_s=120)
        kill(process.pid)
    eventually(lambda: not marked(str(tmp_path)), timeout_s=60)
    eventually(lambda: not list(tmp_path.glob("rolecall-engine-*")), timeout_s=60)
