"""The project's operator as a process, on a kubeconfig of ours: started, killed, asked what it is at.

What it is at is read from its control socket, ten times a second at most, once for all who wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from rolecall.clock import Clock, SystemClock
from rolecall.errors import RolecallError
from rolecall.history import roots_of
from rolecall.json_object import Json
from rolecall.local_engine import engines_of
from rolecall.settings import known_flags

_FLAGS = (
    "--proxy-port=0",
    "--role-metrics-port=0",
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    "--webhook-bind-address=127.0.0.1:0",
    # Runs that are held take a place each.
    "--max-runs=64",
    "--max-concurrent-reconciles=64",
    "--log-format=people",
)
# What the manager's Deployment sets too.
_AS_DEPLOYED = {"ANSIBLE_GATHERING": "explicit"}
_START_S, _END_S = 90.0, 40.0
_PAUSE_S = 0.1
# A key that comes back later than this is at rest, until then.
_SOON = timedelta(seconds=6)
_AT_WORK = frozenset({"running", "waiting"})
_LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class CrState:
    """What the engine says of one CR."""

    state: str
    last_run: str
    outcome: str
    next_at: datetime | None
    next_why: str

    def is_at_rest(self, now: datetime) -> bool:
        if self.state in _AT_WORK:
            return False
        if self.next_at is None or self.next_why == "period":
            return True
        return self.next_at - now > _SOON


class TrialEngine:
    """One operator; `start` and `kill` as often as a test wants."""

    def __init__(
        self, project: Path, kubeconfig: Path, scratch: Path, arguments: Sequence[str] = ()
    ) -> None:
        self.project, self._kubeconfig = project, kubeconfig
        self._arguments = tuple(arguments)
        self.artifacts = scratch / "runs"
        self.log = scratch / "engine.log"
        # Short, for the sockets in it.
        self._temporary = Path(tempfile.mkdtemp(prefix="rt"))
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._clock: Clock = SystemClock()
        self._crs: dict[tuple[str, str, str], CrState] = {}
        self._reading = asyncio.Lock()
        self._read_at = float("-inf")

    @property
    def pid(self) -> int:
        assert self._process is not None, "the engine was not started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start it and wait until it answers."""
        # Not in a thread: a cancellation meanwhile would leave a process without an owner.
        self._launch()
        async with asyncio.timeout(_START_S):
            while not await asyncio.to_thread(self._answers):
                self.require_running()
                await self._clock.sleep(_PAUSE_S)

    def require_running(self) -> None:
        """Raise, with what it said last, where it has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            raise RolecallError(f"the operator ended; its last output:\n{self.last_words()}")

    def last_words(self) -> str:
        said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in said[-_LAST_LINES:])

    def words_since(self, position: int) -> tuple[str, int]:
        """What it wrote to its log after a position, and the position to go on from."""
        with self.log.open("rb") as log:
            log.seek(position)
            written = log.read()
        return written.decode(errors="replace"), position + len(written)

    async def kill(self) -> None:
        """As the kernel does when memory is short: the engine, its host, every run."""
        await asyncio.to_thread(kill_whole, self.pid)
        await self._ended()

    async def stop(self) -> None:
        """Ask it to end, as Kubernetes does."""
        if self._process is not None and self.is_running:
            self._process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(_END_S):
                    await self._ended()
            except TimeoutError:
                await self.kill()

    async def close(self) -> None:
        """End it gracefully, or kill it if the caller is cancelled."""
        try:
            await self.stop()
        finally:
            if self.is_running:
                kill_whole(self.pid)
            self._dismiss_guard()
            shutil.rmtree(self._temporary, ignore_errors=True)

    def kill_runs(self) -> int:
        """Kill every run in flight, and nothing else; how many there were."""
        pids = runs_below(self.pid)
        for pid in pids:
            kill_whole(pid)
        return len(pids)

    async def state_of(self, kind: str, namespace: str, name: str) -> CrState | None:
        """What it says of a CR now; None where it knows none of this name."""
        async with self._reading:
            if self._clock.monotonic() - self._read_at >= _PAUSE_S:
                self._crs = await asyncio.to_thread(self._read)
                self._read_at = self._clock.monotonic()
        return self._crs.get((kind, namespace, name))

    async def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Bring a CR back now."""
        wanted = {"kind": kind, "name": name, "namespace": namespace}

        def ask() -> None:
            for engine, _ in engines_of(roots_of(self.artifacts)):
                engine.reconcile({key: text for key, text in wanted.items() if text})

        await asyncio.to_thread(ask)

    def _launch(self) -> None:
        command = [sys.executable, "-m", "rolecall", "run", f"--artifacts-dir={self.artifacts}"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *known_flags(_FLAGS), *self._arguments],
                cwd=self.project,
                env={
                    **os.environ,
                    **_AS_DEPLOYED,
                    "KUBECONFIG": str(self._kubeconfig),
                    "TMPDIR": str(self._temporary),
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._guard = start_guard(self._process.pid)

    def _answers(self) -> bool:
        return any(state["engine"]["pid"] == self.pid for _, state in self._engines())

    def _read(self) -> dict[tuple[str, str, str], CrState]:
        self.require_running()
        found = {}
        for _, state in self._engines():
            for cr in state["crs"]:
                found[cr["kind"], cr["namespace"] or "", cr["name"]] = _cr_state(cr)
        return found

    def _engines(self) -> list[tuple[object, Json]]:
        with contextlib.suppress(OSError):
            return list(engines_of(roots_of(self.artifacts)))
        return []

    async def _ended(self) -> None:
        process = self._process
        if process is not None:
            await asyncio.to_thread(process.wait)
            self._dismiss_guard()

    def _dismiss_guard(self) -> None:
        if self._guard is not None:
            dismiss(self._guard)
            self._guard = None


def _cr_state(cr: Json) -> CrState:
    last = cr.get("last") or {}
    next_at = datetime.fromisoformat(cr["next_at"]) if cr.get("next_at") else None
    return CrState(
        cr["state"],
        last.get("run") or "",
        last.get("outcome") or "",
        next_at,
        cr.get("next_why") or "",
    )


# Finds and kills the processes of an engine, by descent from the one that we started.
# Runs are known by the name that they give themselves (`rolecall-run`). A process is stopped before
# its children are read, so that none is born meanwhile.

_RUN = "rolecall-run"
_WAIT_THEN_END = 'while read -r _; do :; done; kill -s TERM "$1"'


def start_guard(pid: int) -> subprocess.Popen[bytes]:
    """From now on the process ends with us, however we end; `dismiss` the guard when it has ended.

    The guard waits at the end of a pipe whose other end only we hold.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _WAIT_THEN_END, "guard", str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def dismiss(guard: subprocess.Popen[bytes]) -> None:
    """Before the number of the process that it would end may be another's."""
    assert guard.stdin is not None, "a guard is always started with a pipe"
    guard.kill()
    guard.stdin.close()
    guard.wait()


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def runs_below(pid: int) -> list[int]:
    """The first of each run's processes."""
    found = []
    for child in children_of(pid):
        found += [child] if _name_of(child) == _RUN else runs_below(child)
    return found


def kill_whole(pid: int) -> None:
    """Kill a process and all below it."""
    _send(pid, signal.SIGSTOP)
    for child in children_of(pid):
        kill_whole(child)
    _send(pid, signal.SIGKILL)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
