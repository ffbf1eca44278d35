"""Ending a run means that nothing below it is left, whatever sessions it started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from rolecall_base import processes
from rolecall_base.processes import descendants_of
from tests.fixtures.eventually import eventually

_TREE = "setsid sh -c 'sleep 600 & sleep 600 & wait' & sleep 600 & echo ready; wait"


def _tree() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(["sh", "-c", _TREE], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def test_descendants_are_found_across_sessions() -> None:
    process = _tree()
    try:
        while len(found := descendants_of(process.pid)) < 4:
            pass
        assert process.pid not in found
    finally:
        processes.kill_tree(process.pid)
        process.communicate()


def test_killing_a_tree_leaves_nothing_of_it() -> None:
    process = _tree()
    while len(found := descendants_of(process.pid)) < 4:
        pass
    pidfd = os.pidfd_open(process.pid)
    processes.kill_tree(process.pid, pidfd)
    process.communicate()
    os.close(pidfd)
    assert process.returncode == -9
    # Killed is not yet gone: the kernel takes a moment to end those whose parent ended first.
    eventually(lambda: all(processes.is_zombie(pid) for pid in found))


def test_pidfd_of_an_ended_process_signals_no_other() -> None:
    process = subprocess.Popen(["true"])
    pidfd = os.pidfd_open(process.pid)
    process.wait()
    processes.kill_tree(os.getpid(), pidfd)  # would end this very test
    os.close(pidfd)


def test_resident_memory_is_known_for_the_living_only() -> None:
    assert processes.resident_bytes() > 1_000_000
    assert processes.resident_bytes(2**22) == 0
    assert not Path(f"/proc/{2**22}").exists()
