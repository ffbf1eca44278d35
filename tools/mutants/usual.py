"""What the tests do without any mutant: which lines each of them runs, and how long it takes."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest

# What a test is given at least, before it counts as hanging; and else how many times its usual time.
LEAST_LIMIT_S = 15.0
LIMIT_TIMES = 5.0


@dataclass
class Usual:
    """Of one room's tests, by their ids."""

    seconds: dict[str, float] = field(default_factory=dict)
    # Of each test: files of the room, and the lines that ran.
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def tests_of(self, file: str, first: int, last: int) -> list[str]:
        """Those that run one of these lines, fastest first."""
        wanted = range(first, last + 1)
        found = (
            test
            for test, files in self.lines.items()
            if any(line in wanted for line in files.get(file, ()))
        )
        return sorted(found, key=self._seconds)

    def tests_of_file(self, file: str) -> list[str]:
        """Those that run anything of it; all, where none does: a file may hold only names."""
        found = [test for test, files in self.lines.items() if file in files]
        return sorted(found or self.lines, key=self._seconds)

    def all_tests(self) -> list[str]:
        return sorted(self.lines, key=self._seconds)

    def limit_s(self, test: str) -> float:
        return max(LEAST_LIMIT_S, LIMIT_TIMES * self._seconds(test))

    def _seconds(self, test: str) -> float:
        return self.seconds.get(test, 0.0)


class Watched:
    """A plugin of pytest that notes lines, times and failures of every test."""

    def __init__(self, files: Collection[str]) -> None:
        self.usual = Usual()
        self._files = frozenset(files)
        self._lines: defaultdict[str, set[int]] = defaultdict(set)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._lines.clear()
        began = time.monotonic()
        sys.settrace(self._call)
        threading.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.usual.seconds[item.nodeid] = time.monotonic() - began
            self.usual.lines[item.nodeid] = {
                file: sorted(lines) for file, lines in self._lines.items()
            }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.usual.failed[report.nodeid] = report.longreprtext

    def _call(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        return self._line if frame.f_code.co_filename in self._files else None

    def _line(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        self._lines[frame.f_code.co_filename].add(frame.f_lineno)
        return self._line


class Judged:
    """A plugin of pytest that notes the first failure, and ends the process where a test hangs."""

    def __init__(self, usual: Usual) -> None:
        self.failed: str | None = None
        self._usual = usual

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_REAL, self._usual.limit_s(item.nodeid))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid
