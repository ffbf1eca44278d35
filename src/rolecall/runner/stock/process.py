"""A stock run's process: the command, below a supervisor that can end all of it.

Promises: leaving its context leaves nothing alive of a run that did not end by itself. Starting costs
the same whatever `ulimit -n` says: descriptors are closed with one system call.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rolecall.clock import Clock
from rolecall.runner.contract import RunResult
from rolecall.runner.folders import CannotStartError, remove
from rolecall_base.processes import freeze_below, kill_found, processes_with
from rolecall_base.variables import SCRATCH_VARIABLE

_SUPERVISOR = Path(__file__).with_name("supervisor.py")


class SupervisedProcess:
    """A `RunProcess`, as its supervisor reports it. When it waits is unknown: it keeps its slot."""

    stands, stood_s, spoke_s = False, 0.0, 0.0

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, clock: Clock
    ) -> None:
        """Start it. `env` names the run's scratch folder; it is removed where the run is ended."""
        self._env, self._clock = env, clock
        self._text = b""
        self._last_report = ""
        self._has_started = False
        self._command_pid = 0  # leads a process group of its own
        self.has_ended = False
        self.cpu_s: float | None = None
        report, report_end = os.pipe()
        try:
            self._supervisor = _start_supervisor(report_end, command, env, cwd)
        except BaseException as error:
            os.close(report)
            if not isinstance(error, OSError):
                raise
            raise _cannot_start(str(error)) from error
        finally:
            os.close(report_end)
        assert self._supervisor.stdin is not None and self._supervisor.stdout is not None
        self._stdin, self._stdout = self._supervisor.stdin, self._supervisor.stdout
        self.output, self.reports = self._stdout.fileno(), (report,)
        self.began_s = clock.monotonic()

    def __enter__(self) -> SupervisedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()  # without it the supervisor ends the run, if it still goes on
        self._supervisor.wait()
        self._stdout.close()
        os.close(*self.reports)

    def report_to(self, reports: object) -> None:
        """Nothing: ansible-runner's callback leaves its events in files."""

    def completed(self, result: RunResult) -> RunResult:
        return result

    def end(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._stdin.fileno(), b"e")

    def freeze(self) -> None:
        """All but the supervisor, who ends it next; where there is no /proc, its process group."""
        if self._command_pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._command_pid, signal.SIGSTOP)
        freeze_below(self._supervisor.pid)

    def read_report(self, descriptor: int) -> bool:
        chunk = os.read(descriptor, 4096)
        *lines, self._text = (self._text + chunk).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            if text.startswith("started "):
                self._has_started = True
                self._command_pid = int(text.partition(" ")[2])
                self.began_s = self._clock.monotonic()
            elif text.startswith("cpu "):
                self.cpu_s = float(text.partition(" ")[2])
            else:
                self._last_report = text
        self.has_ended = not chunk or bool(self._last_report)
        return not self.has_ended

    def code(self) -> int:
        """Raises `CannotStartError` where the command was never there."""
        word, _, text = self._last_report.partition(" ")
        if word == "exit":
            return int(text)
        if word == "signal":
            return -int(text)
        if word == "error" and not self._has_started:
            raise _cannot_start(text)
        # The supervisor itself was killed.
        scratch = self._env[SCRATCH_VARIABLE]
        kill_found(lambda: processes_with(SCRATCH_VARIABLE, scratch))
        remove(Path(scratch))
        return -signal.SIGKILL


def _start_supervisor(
    report: int, command: Sequence[str], env: Mapping[str, str], cwd: Path
) -> subprocess.Popen[bytes]:
    arguments = [str(report), env[SCRATCH_VARIABLE], *command]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SUPERVISOR), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(env),
        cwd=cwd,
        pass_fds=[report],
        start_new_session=True,
    )


def _cannot_start(why: str) -> CannotStartError:
    return CannotStartError(f"ansible-playbook could not be started: {why}")
