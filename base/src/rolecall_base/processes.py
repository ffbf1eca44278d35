"""Linux processes as a run leaves them: found by descent or by a mark, ended whole.

Ansible's workers, async jobs and daemons start sessions of their own, so a process group does not hold
a run. A *subreaper* stands above each run: whatever is abandoned below it stays below it, and to end a
run means to freeze and kill everything below it, again until nothing is left. A process that has lost
its parents is known by variables that it was started with. A cgroup would be simpler, but a container
seldom may make one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15
# A fork bomb is frozen in some rounds; the bound only keeps a bug here from spinning.
_MOST_ROUNDS = 10_000
# Until killed processes are gone, and those that they forked meanwhile; 20 s in all.
_KILL_ROUND_S = 0.02
_MOST_KILL_ROUNDS = 1000
# Fields of /proc/PID/stat, counted from the one after the name.
_SIZE, _ENVIRONMENT_START = 20, 47
# A program is loaded in far less, unless the machine is very busy.
_MOST_LOOKS = 1000


def children_of(pid: int) -> list[int]:
    """Direct children, zombies included; empty when the process is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                text = (thread / "children").read_text()
                found += [int(word) for word in text.split()]
    return found


def descendants_of(pid: int, spared: Collection[int] = ()) -> list[int]:
    """Everything below a process, nearest first; without the spared ones and what is below these."""
    found: list[int] = []
    waiting = _below(pid, spared)
    while waiting:
        found += waiting
        waiting = [child for parent in waiting for child in _below(parent, spared)]
    return found


def freeze_below(pid: int) -> None:
    """Stop everything below a process, not itself. What is stopped forks nothing more."""
    stopped: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        new = [child for child in descendants_of(pid) if child not in stopped]
        if not new:
            return
        for child in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGSTOP)
        stopped.update(new)


def _below(pid: int, spared: Collection[int]) -> list[int]:
    return [child for child in children_of(pid) if child not in spared]


def become_subreaper() -> None:
    """Adopt every orphan below this process from now on."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def wake_when_parent_dies() -> None:
    """Let the kernel resume this process when its parent dies.

    A parent that dies between freezing and killing it would leave it frozen for ever; awake, it sees
    that its parent is gone, and ends.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def set_name(name: str) -> None:
    """Name this process in `ps` and `top`; at most 15 letters survive."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    ctypes.CDLL(None).prctl(_PR_SET_NAME, buffer, 0, 0, 0)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def kill_below(pid: int, spared: Collection[int] = ()) -> list[int]:
    """Kill everything below a process (not itself); returns what was killed.

    Frozen first: what is stopped cannot fork away while its siblings are being killed. A chain, each
    link of which forks the next and ends, may show nothing but dead links to a look. But those were
    not there the time before; only a look that finds nothing new proves that nothing is left.
    """
    killed: list[int] = []
    past = set(spared)
    for _ in range(_MOST_ROUNDS):
        new = descendants_of(pid, past)
        if not new:
            return killed
        _signal_all(new, signal.SIGSTOP)  # at once: a closer look first would be too late
        living = [child for child in new if not is_zombie(child)]
        _signal_all(living, signal.SIGKILL)
        killed += living
        past.update(set(new) - set(living))
    return killed


def kill_tree(pid: int, pidfd: int | None = None) -> None:
    """Kill a process and everything below it. With a pidfd, a reused pid is never hit."""
    if pidfd is not None and not _is_alive(pidfd):
        return
    _signal_one(pid, pidfd, signal.SIGSTOP)
    kill_below(pid)
    _signal_one(pid, pidfd, signal.SIGKILL)


def freeze_tree(pid: int, pidfd: int) -> None:
    """Stop a process and everything below it."""
    if _is_alive(pidfd):
        _signal_one(pid, pidfd, signal.SIGSTOP)
        freeze_below(pid)


def _is_alive(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except ProcessLookupError:
        return False
    return True


def _signal_one(pid: int, pidfd: int | None, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if pidfd is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(pidfd, number)


def _signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and only waits to be reaped (or is gone already)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def resident_bytes(pid: int | str = "self") -> int:
    """Resident memory of a process, 0 when it is gone."""
    try:
        words = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE")


def processes_with(variable: str, value: str) -> Iterator[int]:
    """The processes that carry this variable, as far as we may look."""
    wanted = f"{variable}={value}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in environment_of(int(folder.name)):
                yield int(folder.name)


def environment_of(pid: int) -> list[bytes]:
    """Its variables, as `NAME=value`. OSError where it is gone, or not ours to ask."""
    folder = Path(f"/proc/{pid}")
    for _ in range(_MOST_LOOKS):
        if content := (folder / "environ").read_bytes():
            return content.split(b"\0")
        if not _is_being_loaded(folder):
            break
        os.sched_yield()
    # It may have got there between the two looks.
    return (folder / "environ").read_bytes().split(b"\0")


def _is_being_loaded(folder: Path) -> bool:
    """Whether a new program has its memory and not yet its environment: `exec` is still at work.

    Its starter may know of it already, so to take it for one without marks is to overlook it.
    """
    fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    return fields[_SIZE] != b"0" and fields[_ENVIRONMENT_START] == b"0"


def kill_found(find: Callable[[], Iterable[int]]) -> None:
    """Kill the processes that `find` yields, until it yields none."""
    for _ in range(_MOST_KILL_ROUNDS):
        found = False
        for pid in find():
            found = True
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        threading.Event().wait(_KILL_ROUND_S)
