"""Start programs of a cluster, and find them again: the process table is the only record.

Every program of a cluster has two variables in its environment: the cluster's folder and the name of
the component. So /proc always shows what runs, also after a crash at any moment. Rejected: pid files,
which are wrong exactly when they matter (a killed `up` has not written them yet, and after a reboot the
number belongs to someone else). A signal goes through a pidfd that was opened before the environment
was read, so it never reaches a stranger who got the number meanwhile.

Linux only (also under WSL): /proc and pidfd are what makes this simple.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall_base.processes import environment_of

FOLDER_MARK = "ROLECALL_CLUSTER_FOLDER"
COMPONENT_MARK = "ROLECALL_CLUSTER_COMPONENT"
_KILL_S = 10.0  # freeing 300 MB on a busy machine takes a moment; nothing takes this long


@dataclass(frozen=True, slots=True)
class Running:
    component: str
    pid: int
    folder: Path

    @property
    def memory_bytes(self) -> int:
        """Resident memory, 0 when it has just ended."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return 0
        for line in status.splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    @property
    def is_frozen(self) -> bool:
        """Whether it was stopped by SIGSTOP."""
        return _state(self.pid) == "T"


@dataclass(frozen=True, slots=True)
class Command:
    """What to start, and under which name the process table knows it."""

    component: str
    argv: list[str]
    folder: Path

    @property
    def log(self) -> Path:
        """Where its output goes; appended, so a restart keeps what was said before."""
        return self.folder / "logs" / f"{self.component}.log"


def start(command: Command) -> int:
    """Start it in a session of its own (a Ctrl-C at the terminal is not for it); returns its pid.

    It uses no Popen object, which would be lost when the command that started the cluster ends.
    """
    command.log.parent.mkdir(parents=True, exist_ok=True)
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        command.argv[0],
        command.argv,
        environment_for(command.folder, command.component),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(command.log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def exit_code(pid: int) -> int | None:
    """The exit code of a child that has ended, and is forgotten by this; None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def environment_for(folder: Path, component: str) -> dict[str, str]:
    """Little: proxies and credentials of the shell are not the cluster's business."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, FOLDER_MARK: str(folder), COMPONENT_MARK: component}


def find(folder: Path | None) -> list[Running]:
    """Every program of this cluster that runs now; None: of any cluster."""
    found = []
    for entry in Path("/proc").iterdir():
        running = _identify(int(entry.name)) if entry.name.isdigit() else None
        if running is not None and folder in (None, running.folder):
            found.append(running)
    return sorted(found, key=lambda running: running.pid)


def end_all(folder: Path, *, grace_s: float = 0.0) -> None:
    """End every program of the cluster; politely first if there is a grace period.

    Looks again until nothing is found: a component may have been starting during the first look.
    """
    for _ in range(10):
        victims = [running for running in find(folder) if running.pid != os.getpid()]
        if not victims:
            return
        for running in victims:
            end(running, grace_s=grace_s)


def end(running: Running, *, grace_s: float = 0.0) -> None:
    """End one program and wait until it is gone."""
    with _pidfd(running) as handle:
        if handle is None:
            return
        if grace_s:
            signal.pidfd_send_signal(handle, signal.SIGCONT)  # a frozen program gets no SIGTERM
            signal.pidfd_send_signal(handle, signal.SIGTERM)
            if _is_gone(handle, grace_s):
                return
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        _is_gone(handle, _KILL_S)


def send(running: Running, number: signal.Signals) -> None:
    """Send a signal to exactly this program, or not at all."""
    with _pidfd(running) as handle:
        if handle is not None:
            signal.pidfd_send_signal(handle, number)


@contextmanager
def _pidfd(running: Running) -> Iterator[int | None]:
    """A handle on exactly this program; None when it is gone. Reaps it if it was our child."""
    try:
        handle = os.pidfd_open(running.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield handle if _identify(running.pid) == running else None
    except ProcessLookupError:
        return  # it ended between two signals: what was wanted
    finally:
        os.close(handle)
        with suppress(ChildProcessError):  # not ours, or reaped already
            os.waitpid(running.pid, os.WNOHANG)


def _is_gone(handle: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(max(0.0, timeout_s) * 1000))


def _identify(pid: int) -> Running | None:
    """Who this is, by its own environment; None for strangers, other users and the dead."""
    try:
        marks = _marks(environment_of(pid))
    except OSError:
        return None
    if FOLDER_MARK not in marks or COMPONENT_MARK not in marks or _state(pid) in ("Z", "X", ""):
        return None
    return Running(marks[COMPONENT_MARK], pid, Path(marks[FOLDER_MARK]))


def _marks(environment: Iterable[bytes]) -> Mapping[str, str]:
    wanted = (FOLDER_MARK.encode() + b"=", COMPONENT_MARK.encode() + b"=")
    pairs = [item.decode().split("=", 1) for item in environment if item.startswith(wanted)]
    return {name: value for name, value in pairs}


def _state(pid: int) -> str:
    """The state letter of proc(5), empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[0]
