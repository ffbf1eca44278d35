"""One stock run as the engine's thread sees it: output to read, limits to keep, one end to report.

Promises: `follow` returns soon after the command ended, however it ended and whoever still holds its
stdout; when it returns after an end that was asked for, nothing of the run is alive. Starting costs the
same whatever `ulimit -n` says: descriptors are closed with one system call.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rolecall.clock import Clock
from rolecall.environs import processes_with
from rolecall.runner.contract import Ending
from rolecall.runner.fold import Exit
from rolecall.runner.folders import remove
from rolecall.runner.limits import Limits
from rolecall.runner.temporary import SCRATCH_VARIABLE

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_CHUNK_BYTES = 1 << 16
# Every process below a play inherits this variable of ansible-runner's, with the run's own folder.
_RUN_MARK = "AWX_ISOLATED_DATA_DIR"
# Until killed processes are gone, and those that they forked meanwhile; 20 s in all.
_KILL_ROUND_S = 0.02
_MOST_KILL_ROUNDS = 1000


class SupervisedProcess:
    """A command under a supervisor of its own. `follow` blocks; `end` may come from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked = clock.monotonic()  # what `started_late_s` counts from
        self._lock = threading.Lock()  # guards the two below: `end` against the end of `follow`
        self._lifeline: int | None = None  # the supervisor's stdin; a byte ends the run
        self._ended_as: tuple[Ending, str] | None = None  # who asked first, wins

    def end(self, ended_as: Ending, reason: str) -> None:
        """End the command and all that it started; `follow` then reports `ended_as`."""
        with self._lock:
            if self._ended_as is None:
                self._ended_as = (ended_as, reason)
                if self._lifeline is not None:
                    with contextlib.suppress(OSError):
                        os.write(self._lifeline, b"e")

    def follow(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        limits: Limits,
        feed: Callable[[str], None],
    ) -> Exit:
        """Start the command, hand its output on as it comes, return how it ended.

        `env` names the run's scratch folder; it is removed where the run had to be ended.
        """
        began = self._clock.monotonic()
        report, report_end = os.pipe()
        supervisor_command = [sys.executable, "-I", "-S", str(_SUPERVISOR)]
        try:
            supervisor = subprocess.Popen(
                [*supervisor_command, str(report_end), env[SCRATCH_VARIABLE], *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(env),
                cwd=cwd,
                pass_fds=[report_end],
                start_new_session=True,
            )
        except OSError as error:
            os.close(report)
            return Exit(None, ended_as=Ending.NOT_STARTED, reason=_cannot_start(str(error)))
        finally:
            os.close(report_end)
        assert supervisor.stdin is not None and supervisor.stdout is not None
        with supervisor.stdin, supervisor.stdout, open(report, "rb", buffering=0) as reports:  # noqa: PTH123
            with self._lock:
                self._lifeline = supervisor.stdin.fileno()
                if self._ended_as is not None:
                    os.write(self._lifeline, b"e")
            conversation = _Conversation(
                supervisor.stdout.fileno(), reports.fileno(), feed, self._clock, began
            )
            try:
                conversation.hold(limits, self.end)
            finally:
                with self._lock:
                    self._lifeline = None
                # Its end of the run where it did not end; nothing is left where `feed` raised.
                supervisor.stdin.close()
                supervisor.wait()
        return self._exit(conversation, env, began)

    def _exit(self, conversation: _Conversation, env: Mapping[str, str], began: float) -> Exit:
        word, _, text = conversation.last_report.partition(" ")
        started_late_s = conversation.started - self._asked
        seconds = self._clock.monotonic() - began
        if word == "exit":
            # It was faster than whoever wanted to end it.
            return Exit(int(text), started_late_s=started_late_s, seconds=seconds)
        if word == "error" and not conversation.has_started:
            return Exit(None, ended_as=Ending.NOT_STARTED, reason=_cannot_start(text))
        if word != "signal":
            # The supervisor itself was killed.
            _kill_marked(env.get(_RUN_MARK, ""))
            remove(Path(env[SCRATCH_VARIABLE]))
        ended_as, reason = self._ended_as or (None, "")
        number = int(text) if word == "signal" else signal.SIGKILL
        return Exit(
            None,
            signal=number,
            ended_as=ended_as,
            reason=reason,
            started_late_s=started_late_s,
            seconds=seconds,
        )


class _Conversation:
    """Reads output and reports until the last report, and asks for the end when a limit passes."""

    def __init__(
        self, output: int, reports: int, feed: Callable[[str], None], clock: Clock, began: float
    ) -> None:
        self._output, self._reports = output, reports
        self._feed, self._clock = feed, clock
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._said = b""
        self._progress = began
        self.started = began
        self.has_started = False
        self._is_ending = False
        self.last_report = ""

    def hold(self, limits: Limits, end: Callable[[Ending, str], None]) -> None:
        """Return when the supervisor reported the end, or is gone."""
        os.set_blocking(self._output, False)
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        poll.register(self._reports, select.POLLIN)
        while True:
            wait_s = self._check(limits, end)
            ready = poll.poll(None if wait_s is None else max(1, int(wait_s * 1000) + 1))
            descriptors = {descriptor for descriptor, _ in ready}
            if self._output in descriptors and not self._read_output():
                poll.unregister(self._output)
            if self._reports in descriptors and not self._read_report():
                break
        # All that the command wrote is in the pipe by now; others may hold it open for ever.
        while self._read_output():
            pass
        self._feed(self._decoder.decode(b"", final=True))

    def _check(self, limits: Limits, end: Callable[[Ending, str], None]) -> float | None:
        """Ask for the end where a limit passed; returns the seconds until one does."""
        if self._is_ending:
            return None
        now = self._clock.monotonic()
        passed = limits.passed(now, self.started, self._progress)
        if passed is None:
            return limits.left_s(now, self.started, self._progress)
        self._is_ending = True
        end(*passed)
        return None

    def _read_output(self) -> bool:
        try:
            chunk = os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if chunk:
            self._progress = self._clock.monotonic()
            self._feed(self._decoder.decode(chunk))
        return bool(chunk)

    def _read_report(self) -> bool:
        """Take what the supervisor says; False after its last word."""
        chunk = os.read(self._reports, 4096)
        self._said += chunk
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            if text.startswith("started "):
                self.has_started = True
                self.started = self._progress = self._clock.monotonic()
            else:
                self.last_report = text
        return bool(chunk) and not self.last_report


def _kill_marked(mark: str) -> None:
    """Kill what carries a run's mark in its environment: the way that needs no supervisor."""
    for _ in range(_MOST_KILL_ROUNDS if mark else 0):
        found = False
        for pid in processes_with(_RUN_MARK, mark):
            found = True
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        threading.Event().wait(_KILL_ROUND_S)


def _cannot_start(why: str) -> str:
    return f"ansible-playbook could not be started: {why}"
