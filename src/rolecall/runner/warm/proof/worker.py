"""The engine's end of a proof: starts its process, lets it go on step by step, and ends it.

Between two runs of the proof the engine's own go first: the next step waits while any is in flight, but
not for ever, since a busy engine is the one that has most to gain. Its process is started anew, in a
folder that is locked as long as the engine lives, so a killed engine leaves nothing that stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rolecall.clock import Clock
from rolecall.runner.temporary import ENGINE_PREFIX, LockedFolder
from rolecall.runner.warm.proof.verdict import ProofVerdict
from rolecall.settings import RunnerSettings
from rolecall_base import processes

# What a step waits for runs of the engine's.
_GIVES_WAY_S, _LOOKS_EVERY_S = 15.0, 0.2
# Half a minute of CPU on a machine that is a hundred times too busy.
_LIMIT_S = 1800.0
_ENDING_S = 20.0
# No memory, no descriptor, no disk, no thread; or half a line of a process that was killed.
_OUT_OF = (OSError, MemoryError, RuntimeError, ValueError)
# Where collections are is the project's to say; all else of Ansible's own settings would only make the
# proof another one in each project.
_KEPT = frozenset({"ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_COLLECTIONS_PATHS"})
_DROPPED = ("ANSIBLE_", "K8S_AUTH_", "KUBECONFIG")


class ProofProcess:
    """One proof under way. `hold` blocks; `end` may come from any thread."""

    def __init__(self, clock: Clock, in_flight: Callable[[], int]) -> None:
        self._clock = clock
        self._in_flight = in_flight
        self._ended = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._why = ""

    def hold(self, mark: str, settings: RunnerSettings) -> ProofVerdict:
        """Prove; returns whatever came of it, with nothing left behind. Raises nothing."""
        try:
            verdict = self._hold(mark, settings)
        except _OUT_OF as error:
            self._why = self._why or str(error) or type(error).__name__
            verdict = None
        return verdict or ProofVerdict(self._why or "its process ended", is_unfinished=True)

    def _hold(self, mark: str, settings: RunnerSettings) -> ProofVerdict | None:
        folder = LockedFolder(ENGINE_PREFIX, settings.environment.get("TMPDIR"))
        limit = threading.Timer(_LIMIT_S, self.end, [f"it took longer than {_LIMIT_S:.0f} s"])
        limit.daemon = True
        try:
            process = self._start(_environment(settings, folder.path), folder.path)
            limit.start()
            order = {
                "mark": mark,
                "folder": str(folder.path),
                "collections_path": settings.collections_path,
            }
            return self._converse(process, order)
        finally:
            limit.cancel()
            self._finish()
            shutil.rmtree(folder.path, ignore_errors=True)
            folder.let_go()

    def end(self, why: str) -> None:
        """Hang up: it ends its runs and itself."""
        with self._lock:
            self._why = self._why or why
            self._ended.set()
            if self._process is not None and self._process.stdin is not None:
                with contextlib.suppress(OSError, ValueError):
                    self._process.stdin.close()

    def _start(self, environment: dict[str, str], folder: Path) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended.is_set():
                raise OSError(self._why)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __package__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=folder,
                text=True,
                start_new_session=True,
            )
            return self._process

    def _converse(
        self, process: subprocess.Popen[str], order: Mapping[str, Any]
    ) -> ProofVerdict | None:
        assert process.stdout is not None
        self._say(process, json.dumps(order))
        for line in process.stdout:
            message = json.loads(line)
            if message.pop("op") == "verdict":
                return ProofVerdict.of_json(message)
            self._give_way()
            self._say(process, "go")
        return None

    def _say(self, process: subprocess.Popen[str], line: str) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):
            assert process.stdin is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()

    def _give_way(self) -> None:
        until = self._clock.monotonic() + _GIVES_WAY_S
        while self._in_flight() and self._clock.monotonic() < until:
            if self._ended.wait(_LOOKS_EVERY_S):
                return

    def _finish(self) -> None:
        self.end("")
        process = self._process
        if process is None:
            return
        try:
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            processes.kill_tree(process.pid)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _environment(settings: RunnerSettings, folder: Path) -> dict[str, str]:
    """As plays of this engine find it, but for what configures Ansible."""
    given = {**os.environ, **settings.environment}
    kept = {
        key: value for key, value in given.items() if key in _KEPT or not key.startswith(_DROPPED)
    }
    temporary = folder / "tmp"
    temporary.mkdir()
    (folder / "ansible.cfg").write_text("")
    own = {
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_HOME": str(folder / "home"),
        "TMPDIR": str(temporary),
        "LC_ALL": "C.UTF-8",
    }
    return kept | own
