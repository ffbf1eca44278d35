from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rolecall_base.processes import environment_of, processes_with


@contextmanager
def sleeping(**environment: str) -> Iterator[int]:
    with subprocess.Popen(["/bin/sleep", "600"], env=environment) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def test_process_that_was_started_this_moment_is_known_by_its_mark() -> None:
    # Of plain looks at /proc, one in five came while the program was being loaded and saw nothing.
    for number in range(200):
        with sleeping(ENVIRONS_TEST=f"{number}") as pid:
            assert list(processes_with("ENVIRONS_TEST", f"{number}")) == [pid]


def test_variables_are_distinguished_from_those_that_begin_alike() -> None:
    with sleeping(ENVIRONS_TEST="longer", ENVIRONS="x"):
        assert list(processes_with("ENVIRONS_TEST", "long")) == []


def test_process_without_variables_has_none() -> None:
    with sleeping() as pid:
        assert environment_of(pid) == [b""]


def test_process_that_is_gone_cannot_be_asked() -> None:
    with subprocess.Popen(["/bin/true"]) as process:
        pass
    with pytest.raises(OSError, match=str(process.pid)):
        environment_of(process.pid)
