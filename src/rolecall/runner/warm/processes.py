"""Linux processes as a run leaves them: found by descent, ended whole.

A process group is not enough to end a run: Ansible's workers and async jobs start sessions of their
own. So the run child is a *subreaper* (whatever it or its children abandon becomes its child), and
ending a run means to freeze and kill everything below it, again until nothing is left. A cgroup would
be simpler, but a container seldom may make one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Collection, Iterable
from pathlib import Path

from rolecall.runner.descent import descendants_of, freeze_below

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15
# A fork bomb is frozen in some rounds; the bound only keeps a bug here from spinning.
_MOST_ROUNDS = 10_000


def become_subreaper() -> None:
    """Adopt every orphan below this process from now on."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def wake_when_parent_dies() -> None:
    """Let the kernel resume this process when its parent dies.

    A parent that dies between freezing and killing it would leave it frozen for ever; awake, it sees
    that nobody is there, and ends.
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
        _signal_all(new, signal.SIGSTOP)  # at once: whoever looks closer first comes too late
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
