"""`rolecall demo` as a process that a user ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rolecall_base.processes import descendants_of, is_zombie
from tests.e2e.engine import PATIENCE_S, ROOT, has_engine
from tests.fixtures.eventually import eventually


@contextmanager
def demo(name: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A demo on a cluster of this name; whatever happens, it is gone in the end."""
    with output.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", "demo", "--name", f"{name}-{os.getpid()}"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.nightly
def test_demo_prints_the_address_of_its_page(tmp_path: Path) -> None:
    output = tmp_path / "output"
    with demo("looked", output) as process:
        address = eventually(
            lambda: re.findall(r"Look at it in a browser:\s+(\S+)", output.read_text()),
            timeout_s=3 * PATIENCE_S,
        )
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address[0], timeout=PATIENCE_S) as answer:
            assert "Kinds" in answer.read().decode()
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.nightly
def test_terminated_demo_takes_engine_and_cluster_along(tmp_path: Path) -> None:
    output = tmp_path / "output"
    with demo("ended", output) as process:
        eventually(lambda: has_engine(descendants_of(process.pid)), timeout_s=3 * PATIENCE_S)
        below = descendants_of(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0, output.read_text()
        assert "everything in it was removed" in output.read_text()
        eventually(lambda: all(is_zombie(pid) for pid in below), timeout_s=PATIENCE_S)
