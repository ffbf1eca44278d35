"""What a test of an operator has started ends with it, also where the test is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rolecall_dev.staging.engine import dismiss, start_guard
from tests.fixtures.eventually import eventually

_STARTS_ONE = """
import subprocess, sys
from rolecall_dev.staging.engine import start_guard
sleeper = subprocess.Popen(["sleep", "300"])
guard = start_guard(sleeper.pid)
print(sleeper.pid, flush=True)
sys.stdin.read()
"""


def is_there(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_engine_of_a_killed_test_ends() -> None:
    command = [sys.executable, "-c", _STARTS_ONE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as test:
        assert test.stdout is not None
        pid = int(test.stdout.readline())
        assert is_there(pid)
        test.kill()
    eventually(lambda: is_there(pid), lambda there: not there)


def test_dismissed_guard_ends_nothing() -> None:
    with subprocess.Popen(["sleep", "300"]) as sleeper:
        dismiss(start_guard(sleeper.pid))
        assert sleeper.poll() is None
        sleeper.kill()
