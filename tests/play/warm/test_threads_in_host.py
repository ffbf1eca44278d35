"""A host that has a second thread does not fork: runs go the stock way, and it is said why."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from pathlib import Path

import pytest

from rolecall.runner.inputs import BUNDLED_COLLECTIONS
from tests.play.warm.runs import debug, until, workshop, write

# In a collection that the host has ready.
STARTS_A_THREAD = """
import threading
def reload(): threading.Event().wait()
threading.Thread(target=reload, name="reloader", daemon=True).start()
class FilterModule:
    def filters(self): return dict(watching=str)
"""


async def test_plugin_that_starts_a_thread_when_imported_makes_runs_stock_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    collections = tmp_path / "collections"
    shutil.copytree(BUNDLED_COLLECTIONS, collections)
    plugins = collections / "ansible_collections/operator_sdk/util/plugins"
    plugin = plugins / "filter" / "watching.py"
    write(plugin, STARTS_A_THREAD)
    async with workshop(tmp_path, collections_path=str(collections)) as shop:
        with caplog.at_level(logging.INFO):
            result = await shop.run(shop.role("fine", [debug("fine")]))
    assert (result.succeeded, result.way) == (True, "stock")
    said = [vars(record).get("fields", {}).get("reason", "") for record in caplog.records]
    assert any("`reloader`" in text and str(plugin) in text for text in said), said


@pytest.mark.nightly
async def test_thread_that_comes_later_is_seen_before_the_next_fork(tmp_path: Path) -> None:
    """A library in C may start one at any call; here a signal does, since runs cannot."""
    late = (
        "import signal, sys, threading\n"
        "def start(*_): threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "if 'rolecall_warm/__main__.py' in ' '.join(sys.orig_argv):\n"
        "    signal.signal(signal.SIGUSR1, start)\n"
    )
    write(tmp_path / "python" / "sitecustomize.py", late)
    environment = {"PYTHONPATH": str(tmp_path / "python")}
    async with workshop(tmp_path, environment=environment) as shop:
        role = shop.role("fine", [debug("fine")])
        assert (await shop.run(role)).way == "warm"
        threaded = shop.host_pid
        os.kill(threaded, signal.SIGUSR1)
        threads = Path(f"/proc/{threaded}/task")
        await until(lambda: len(list(threads.iterdir())) == 2, "the thread to begin")
        ways = [(await shop.run(role)).way for _ in range(2)]
        assert ways == ["stock", "warm"], shop.runner.reasons
        assert not any("could not start" in reason for reason in shop.runner.reasons)
        assert shop.host_pid != threaded
