"""An engine that the tests of a module share, each in a namespace of its own."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.engine import EngineProcess

_WHERE = r"  kind=(?P<kind>\S+) namespace=(?P<namespace>\S+) .*$"
_STARTED = re.compile(rf" run started{_WHERE}", re.MULTILINE)
_ENDED = re.compile(rf" run (?:finished|failed){_WHERE}", re.MULTILINE)
_RESULT = re.compile(r"\boutcome=(\S+)")


class SharedEngine(EngineProcess):
    """Watches every namespace; each test sees what happened since it began, in its own ones."""

    def __init__(self, folder: Path, kubeconfig: Path, flags: Sequence[str] = ()) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="s"))
        self._log_starts_at = self._output_starts_at = 0
        self._namespaces: frozenset[str] = frozenset()
        super().__init__(
            folder,
            self._scratch / "engine",
            kubeconfig=kubeconfig,
            flags=flags,
            environment={"WATCH_NAMESPACE": ""},
        )

    def begin_test(self, *namespaces: str) -> None:
        """From here on, show one test what concerns it."""
        self._log_starts_at = len(super().log)
        self._output_starts_at = len(super().play_output)
        self._namespaces = frozenset(namespaces)

    @property
    def log(self) -> str:
        """What it logged since the test began."""
        return super().log[self._log_starts_at :]

    @property
    def play_output(self) -> str:
        """What its plays printed since the test began."""
        return super().play_output[self._output_starts_at :]

    def runs(self, kind: str = "", /, **labels: str) -> float:
        """How many runs ended in the test's namespaces: the metric has no label for those."""
        lines = self._lines(_ENDED, kind)
        return len([line for line in lines if labels.items() <= _labels(line).items()])

    def started_runs(self, kind: str = "") -> int:
        """How many runs started in the test's namespaces."""
        return len(self._lines(_STARTED, kind))

    def _lines(self, pattern: re.Pattern[str], kind: str) -> list[str]:
        return [
            line[0]
            for line in pattern.finditer(self.log)
            if line["namespace"] in self._namespaces and kind in ("", line["kind"])
        ]

    def clean_up(self) -> None:
        """End it; a second time, nothing is left to do."""
        if self._scratch.exists():
            super().clean_up()
            shutil.rmtree(self._scratch)


def _labels(line: str) -> dict[str, str]:
    match = _RESULT.search(line)
    return {"result": match[1]} if match else {}
