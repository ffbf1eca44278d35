"""Runs one command and, on request, ends everything that it ever started.

A process group is not enough to end a play: Ansible's workers, async jobs and daemons start sessions of
their own. So each stock run gets this small process above it, which is a *subreaper*: whatever the play
abandons becomes its child and stays in reach. A play that ends by itself keeps its background jobs, as
under plain ansible-runner; one that is ended, or is killed from outside, keeps nothing, not even
its temporary files.

Started as a script with `python -I -S`: no site, no third-party module, 10 MB and some 30 ms. The
engine holds the other end of its stdin; a byte there, or the engine's death, means: end the run. What
happened goes to a pipe in lines: `started <pid>`, `cpu <seconds>` of all that has ended, then one of
`exit <status>`, `signal <number>`, `error <text>`.

Rejected: a supervisor that hosts ansible-runner itself (0.14 s and 22 MB for each run, and events would
cross one more pipe), cgroups (a container seldom may make one), and making the whole engine a subreaper
(an orphan would not show which run it was of).
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36
# Waiting for killed processes to be gone: 5 ms each, 20 s in all. Only a process stuck in the kernel
# takes longer, and waiting for that would only hold up the engine.
_REAP_STEP_MS = 5
_MOST_REAP_STEPS = 4000


def main(arguments: list[str]) -> int:
    """`supervisor.py REPORT_FD SCRATCH_FOLDER COMMAND [ARGUMENT...]`."""
    report, scratch, command = int(arguments[0]), arguments[1], arguments[2:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only the engine ends runs
    wake, wake_end = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(wake_end, False)
    signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    _become_subreaper()
    try:
        child = _spawn(command, report)
    except OSError as error:
        _say(report, f"error {error.strerror or error}")
        return 1
    _say(report, f"started {child}")
    status = _wait(child, wake)
    if status is None or os.WIFSIGNALED(status):
        status = _end_all(child, wake, status)
        _remove(scratch)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    _say(report, f"cpu {used.ru_utime + used.ru_stime:.6f}")
    if status is None:
        _say(report, "error it could not be ended")
    elif os.WIFSIGNALED(status):
        _say(report, f"signal {os.WTERMSIG(status)}")
    else:
        _say(report, f"exit {os.WEXITSTATUS(status)}")
    return 0


def _become_subreaper() -> None:
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 - costs 3 ms, and only Linux knows subreapers

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _spawn(command: list[str], report: int) -> int:
    return os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_CLOSE, report),
        ],
        setsid=True,
        setsigmask=[],
        # Ignored signals would be inherited, and Python ignores SIGPIPE.
        setsigdef=[
            signal.SIGPIPE,
            signal.SIGXFSZ,
            signal.SIGINT,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGCHLD,
        ],
    )


def _wait(child: int, wake: int) -> int | None:
    """Wait for the child, reaping orphans meanwhile; None where the engine wants the run ended."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        status = _reap(child)
        if status is not None:
            return status
        ready = {descriptor for descriptor, _ in poll.poll()}
        if wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
        if 0 in ready:
            return _reap(child)


def _reap(child: int) -> int | None:
    """Collect whatever has ended; the child's status where it is among that."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                found = status
    return found


def _end_all(child: int, wake: int, status: int | None) -> int | None:
    """Kill everything below this process until nothing is left; the child's status."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    for _ in range(_MOST_REAP_STEPS):
        below = _descendants(os.getpid(), child)
        # Stopped first: what is stopped cannot fork away while its siblings are being killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        ended = _reap(child)
        status = status if ended is None else ended
        if not below:
            return status
        if poll.poll(_REAP_STEP_MS):
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
    return status


def _descendants(root: int, group: int) -> list[int]:
    """Everything below a process, zombies included, and what `group` left behind without a parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents(root, group):
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = children.get(root, [])
    while waiting:
        found += waiting
        waiting = [below for pid in waiting for below in children.get(pid, [])]
    return found


def _parents(root: int, group: int) -> list[tuple[int, int]]:
    """Each process with its parent, from /proc, or from `ps` where there is none."""
    found = []
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - pathlib costs 10 ms to import
    except OSError:
        return _parents_by_ps(root, group)
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
    return found


def _parents_by_ps(root: int, group: int) -> list[tuple[int, int]]:
    import subprocess  # noqa: PLC0415 - 10 ms that only macOS pays, and there only an ended run

    command = ["ps", "-A", "-o", "pid=,ppid=,pgid="]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:
        assert ps.stdout is not None
        rows = [[int(word) for word in line.split()] for line in ps.stdout]
    # Without subreapers an orphan is not below us any longer; its group still shows whose it was.
    return [
        (pid, root if parent == 1 and its_group == group else parent)
        for pid, parent, its_group in rows
        if pid != ps.pid
    ]


def _remove(scratch: str) -> None:
    """Remove what killed processes could not; here, since the engine may be the one that was killed."""
    import shutil  # noqa: PLC0415 - 20 ms that only an ended run pays

    shutil.rmtree(scratch, ignore_errors=True)


def _say(report: int, line: str) -> None:
    with contextlib.suppress(OSError):  # the engine may be gone
        os.write(report, f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
