"""One host process as the engine holds it: started, given orders, asked to end.

Promises: an order is either begun by a child or never executed at all, which the run learns from its
own report socket and not from here; a host that hangs or dies costs speed, never a run. The host's
own words (to stderr) are kept in an unnamed file and logged only when it could not start.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.clock import Clock
from rolecall.runner.installed import NO_WARM_HOST, warm_host
from rolecall.runner.temporary import HOST_PREFIX, LockedFolder
from rolecall.runner.warm.fingerprint import Fingerprint
from rolecall_base import wire
from rolecall_base.variables import PER_RUN_VARIABLES

_logger = logging.getLogger(__name__)
# An order that the host does not take within so long: it hangs, and is ended.
_SEND_TIMEOUT_S = 10.0
_LOG_END_BYTES = 2000
# What a killed host leaves works on for a moment, also in the host's folder.
_RELEASE_TRIES, _RELEASE_PAUSE_S = 20, 0.05


@dataclass(frozen=True, slots=True)
class Unknown:
    """An ansible-core that the hooks were not written against, as a host found it."""

    core: str
    problems: tuple[str, ...]
    mark: str  # of exactly these sources: what a proof is good for
    may_be_proven: bool  # every name is there


@dataclass(frozen=True, slots=True)
class ChildEnding:
    """How a run child ended, as the host saw it."""

    code: int
    cpu_s: float


class HostGoneError(Exception):
    """The host could not take an order; nothing of it was executed."""


class HostLink:
    """A host process and the conversation with it."""

    def __init__(
        self,
        fingerprint: Fingerprint,
        environment: Mapping[str, str],
        cwd: Path,
        clock: Clock,
        trusted: Collection[str] = (),
    ) -> None:
        """Start it; `wait_ready` returns once it serves. `trusted`: marks of what was proven."""
        self.fingerprint = fingerprint
        self.started = clock.monotonic()
        self.served = 0
        self.last_begun = self.started  # when a run of it last began
        self.rss_at_start = 0
        self.rss = 0
        self.is_stale = False  # holds something that changed on disk; takes no more orders
        self.problem = ""  # why it does not serve
        self.has_died = False  # by a signal, or once it was ready: another may well serve
        self.is_lasting = False  # the cause lies in files; the same files give the same answer
        self.unknown: Unknown | None = (
            None  # why, where it is an ansible-core that was not reviewed
        )
        self.is_proven = False  # it serves such a one
        self._is_settled = threading.Event()  # ready, or never will be
        # Of runs in flight, None before they end; dropped after that, since a host serves thousands.
        self._endings: dict[str, ChildEnding | None] = {}
        self._refusals: dict[str, str] = {}
        self._news = threading.Condition()
        self._send_lock = threading.Lock()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `_release`
        self._folder = LockedFolder(HOST_PREFIX)
        self._sock, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = self._start(environment, cwd, theirs.fileno(), trusted)
            except OSError:
                self._release()
                raise
        self._reader = threading.Thread(target=self._read, name="warm-host", daemon=True)
        try:
            self._reader.start()
        except RuntimeError as error:  # no thread to be had
            self.kill()
            self._process.wait()
            self._release()
            raise OSError(errno.EAGAIN, str(error)) from error

    def _start(
        self, environment: Mapping[str, str], cwd: Path, fd: int, trusted: Collection[str]
    ) -> subprocess.Popen[bytes]:
        program = warm_host()
        if program is None:  # removed while we ran
            raise OSError(errno.ENOENT, NO_WARM_HOST)
        return subprocess.Popen(
            [sys.executable, "-P", str(program), str(fd), str(self._folder.path), *sorted(trusted)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            # Ansible makes a temporary folder when imported, and home may be read-only.
            env={**_host_environment(environment), "ANSIBLE_LOCAL_TEMP": str(self._folder.path)},
            cwd=cwd,
            pass_fds=[fd],
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self.problem

    @property
    def is_ready(self) -> bool:
        return self._is_settled.is_set() and not self.problem

    def wait_ready(self, timeout_s: float) -> bool:
        """Wait until it serves, or will not; True where it serves."""
        self._is_settled.wait(timeout_s)
        return self.is_ready

    def order(self, message: Mapping[str, Any], fds: list[int]) -> None:
        """Order one run; raises HostGoneError where the host did not get it.

        `forget` drops what is kept of it.
        """
        with self._news:
            self._endings[message["id"]] = None
        with self._send_lock:
            self._sock.settimeout(None)
            try:
                _set_send_timeout(self._sock, _SEND_TIMEOUT_S)
                wire.send(self._sock, message, fds)
            except OSError as error:
                self.kill()
                raise HostGoneError(str(error)) from error
            self.served += 1

    def forget(self, run_id: str) -> None:
        """The ending of this run will not be asked for (any more)."""
        with self._news:
            self._endings.pop(run_id, None)

    def ending_of(self, run_id: str, timeout_s: float) -> ChildEnding | None:
        """How a run child ended; None where the host does not know (any more)."""
        with self._news:
            self._news.wait_for(
                lambda: self._endings[run_id] is not None or bool(self.problem), timeout=timeout_s
            )
            return self._endings[run_id]

    def refusal_of(self, run_id: str, timeout_s: float) -> str:
        """Why an order was not begun; empty where the host does not know."""
        with self._news:
            self._news.wait_for(
                lambda: (
                    run_id in self._refusals
                    or self._endings[run_id] is not None
                    or bool(self.problem)
                ),
                timeout=timeout_s,
            )
            refusal = self._refusals.pop(run_id, "")
            # One that left by itself before its first word is a fault of the host that it comes from.
            ending = self._endings[run_id]
            if not refusal and ending is not None and ending.code < 0:
                return "its process was killed"
            return refusal

    def retire(self) -> None:
        """Runs that have begun go on; orders that have not go the stock way. Then it ends."""
        self.is_stale = True
        with self._send_lock, contextlib.suppress(OSError):
            wire.send(self._sock, {"op": "retire"})

    def kill(self) -> None:
        """End it now. Runs in flight are not touched: they are on their own since they began."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)

    def close(self, timeout_s: float) -> None:
        """Hang up: it ends its children and itself. While it warms up it has none and reads nothing."""
        if not self._is_settled.is_set():
            self.kill()
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        self._reader.join(timeout_s)

    def _read(self) -> None:
        problem = "the warm host ended"
        try:
            while (received := wire.receive(self._sock)) is not None:
                self._take(received[0])
        except Exception as error:  # whatever it said: a host that makes no sense serves no run
            problem = f"the connection to the warm host broke: {type(error).__name__}: {error}"
            self.kill()
        self._process.wait()
        with self._news:
            self.has_died = self.is_ready or self._process.returncode < 0
            self.problem = self.problem or problem
            self._news.notify_all()
        if not self._is_settled.is_set():
            self.problem = f"the warm host could not start: {self._end_of_its_log() or problem}"
            self._is_settled.set()
        self._release()

    def _take(self, message: dict[str, Any]) -> None:
        with self._news:
            match message["op"]:
                case "ready":
                    self._settle(message)
                case "broken":
                    which = "stopped working" if self.is_ready else "could not start"
                    self.problem = f"the warm host {which}: {message['reason']}"
                    self.is_lasting = bool(message["lasting"])
                    self._is_settled.set()
                case "grown":  # on purpose: what it holds more from now on is no growth
                    self.rss_at_start = self.rss = message["rss"]
                case "ended":
                    self.rss = message["rss"]
                    if message["id"] in self._endings:
                        self._endings[message["id"]] = ChildEnding(
                            message["code"], message["cpu_s"]
                        )
                case "refused":
                    self._refusals[message["id"]] = message["reason"]
                    self.is_stale |= message["stale"]
                case "stale":
                    self.is_stale = True
            self._news.notify_all()

    def _settle(self, message: dict[str, Any]) -> None:
        self.rss_at_start = self.rss = message["rss"]
        self.is_proven = bool(message["proven"])
        if message["problems"]:
            self.unknown = Unknown(
                message["core"],
                tuple(message["problems"]),
                message["mark"],
                message["may_be_proven"],
            )
            self.is_lasting = True
            listed = ", ".join(message["problems"])
            self.problem = (
                f"ansible-core {message['core']} is not one that rolecall was tested with: {listed}"
            )
        elif message["config_file"] != self.fingerprint.config_file:
            self.problem = (
                f"Ansible reads `{message['config_file'] or 'no ansible.cfg'}`, "
                f"expected `{self.fingerprint.config_file or 'none'}`"
            )
        self._is_settled.set()

    def _end_of_its_log(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOG_END_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _release(self) -> None:
        with self._send_lock:
            self._sock.close()
        self._log.close()
        for _ in range(_RELEASE_TRIES):
            shutil.rmtree(self._folder.path, ignore_errors=True)
            if not self._folder.path.exists():
                break
            time.sleep(_RELEASE_PAUSE_S)  # a fork that outlived the host put something there
        self._folder.let_go()


def _host_environment(environment: Mapping[str, str]) -> dict[str, str]:
    shared = {key: value for key, value in environment.items() if key not in PER_RUN_VARIABLES}
    # The event callback reads it when imported; each run child then sets its own.
    return {**shared, "AWX_ISOLATED_DATA_DIR": os.devnull}


def _set_send_timeout(sock: socket.socket, timeout_s: float) -> None:
    sock.setsockopt(
        socket.SOL_SOCKET,
        socket.SO_SNDTIMEO,
        int(timeout_s).to_bytes(8, sys.byteorder) + (0).to_bytes(8, sys.byteorder),
    )
