"""The host's loop: requests from the engine in, forks out, endings back.

One thread, one `poll`, no event loop: whatever else ran here at the moment of a fork would be a lock
that the child inherits locked; `forking` looks. The host runs no role's code; what it holds is code and
caches keyed by content. When the engine hangs up, it ends its runs and itself.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import signal
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible.release

from rolecall_base import processes, wire
from rolecall_base.marks import MarkedRun
from rolecall_base.polling import readable
from rolecall_warm.ahead.spare import SPARE_AFTER_S, SPARE_FOR_S, SpareProcess
from rolecall_warm.ahead.warm_up import WarmUp, warm_up
from rolecall_warm.child import RunOrder, be_run_child
from rolecall_warm.forking import ThreadsError, check_threads, fork
from rolecall_warm.hooks import seams
from rolecall_warm.hooks.new_process import NewProcess
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.in_fork import Interrupted, output_of_fork
from rolecall_warm.orphans import end_leftovers
from rolecall_warm.unknown import mark_of, may_be_proven

# Output and report.
_DESCRIPTORS = 2
# How often the files outside collections are looked at, right after a fork.
_LOOK_AT_LIBRARIES_S = 1.0
# What ansible-core looks like takes a second to find out, on a busy machine some more.
_CHECK_S = 30.0


@dataclass
class _State:
    """What the loop knows; `runs` are the children that live."""

    warm_up: WarmUp
    runs: dict[int, MarkedRun] = field(default_factory=dict)
    # Processes that a run left behind on purpose (async without poll); not ours to end.
    kept: set[int] = field(default_factory=set)
    served: int = 0
    is_retiring: bool = False
    looked_at_libraries: float = field(default_factory=time.monotonic)
    spare: SpareProcess | None = None
    idle_since: float = field(default_factory=time.monotonic)


def serve(
    engine: socket.socket,
    folder: Path,
    streams: StreamSettings,
    new: NewProcess,
    trusted: Collection[str] = (),
) -> None:
    """Warm up, say so, and serve until the engine hangs up; `folder` is the host's own.

    `trusted` are the marks of unknown ansible-cores that were proven, or are just being so.
    """
    processes.set_name("rolecall-warm")
    processes.become_subreaper()
    problems = _problems(engine)
    if problems and mark_of(problems) not in trusted:
        wire.send(engine, _greeting(problems))
        return
    state = _State(warm_up(folder, streams, new))
    try:
        check_threads()
    except ThreadsError as error:
        wire.send(engine, _broken(error, lasting=True))
        return
    wire.send(engine, {**_greeting([]), "proven": bool(problems)})
    wake = _wake_on_child()
    gc.collect()
    gc.freeze()
    try:
        while state.runs or not state.is_retiring:
            try:
                if not _wait_and_act(engine, wake, state):
                    return
            except ThreadsError as error:
                # Runs in flight were forked before; no other may be.
                wire.send(engine, _broken(error, lasting=False))
                state.is_retiring = True
                _end_spare(state)
    finally:
        _end_spare(state)
        for pid in state.runs:
            processes.kill_tree(pid)


def _problems(engine: socket.socket) -> list[str]:
    """Looked for in a fork: the syntax trees take 29 MB, and 12 of them would never be given back."""
    with contextlib.suppress(Interrupted, ThreadsError):
        if said := output_of_fork(_say_problems, engine, _CHECK_S):
            problems: list[str] = json.loads(said)
            return problems
    # An error that ended the fork comes up again here, where it can be reported.
    return seams.check()


def _say_problems(saying: int) -> None:
    os.write(saying, json.dumps(seams.check()).encode())


def _wait_and_act(engine: socket.socket, wake: int, state: _State) -> bool:
    """Wait for what comes next, and do it; False after the engine hung up."""
    ready = readable([engine.fileno(), wake], _wait_s(state))
    if not ready:
        _use_pause(engine, state)
    if wake in ready:
        os.read(wake, 4096)
        _reap(engine, state)
    return engine.fileno() not in ready or _take_order(engine, state)


def _wait_s(state: _State) -> float | None:
    """How long there may be nothing to do until the pause is used; None: for ever."""
    if state.runs or state.is_retiring:
        return None
    if state.spare is None:
        # After a minute without runs, no spare until another run has ended.
        rested = time.monotonic() - state.idle_since > SPARE_FOR_S
        return None if rested else SPARE_AFTER_S
    return max(0.0, state.spare.since + SPARE_FOR_S - time.monotonic())


def _use_pause(engine: socket.socket, state: _State) -> None:
    """Nothing happened for a while: get ready for the next run, or let go of a spare in vain."""
    if state.spare is not None:
        _end_spare(state)
        return
    parts = state.warm_up.parts
    try:
        state.spare = state.warm_up.spare_process(
            engine, lambda message, fds: be_run_child(_order_of(message, fds), parts)
        )
    except Interrupted:
        return
    except OSError:  # no memory, no process left: tried again after another run
        state.idle_since = -SPARE_FOR_S


def _end_spare(state: _State) -> None:
    if state.spare is not None:
        state.spare.end()
        state.spare = None


def _greeting(problems: list[str]) -> dict[str, Any]:
    import ansible.constants as C  # noqa: N812, PLC0415

    return {
        "op": "ready",
        "pid": os.getpid(),
        "core": ansible.release.__version__,
        "config_file": str(C.CONFIG_FILE or ""),
        "problems": problems,
        "mark": mark_of(problems),
        "may_be_proven": may_be_proven(problems),
        "proven": False,
        "rss": processes.resident_bytes(),
    }


def _wake_on_child() -> int:
    read_end, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the engine's to answer
    return read_end


def _take_order(engine: socket.socket, state: _State) -> bool:
    received = wire.receive(engine)
    if received is None:
        return False
    message, fds = received
    try:
        if message["op"] == "run":
            _begin(engine, state, message, fds)
        elif message["op"] == "retire":
            state.is_retiring = True
            _end_spare(state)
    finally:
        # An engine without a child by now sees from this that no process has the order.
        for fd in fds:
            os.close(fd)
    return True


def _begin(engine: socket.socket, state: _State, message: wire.Message, fds: list[int]) -> None:
    if changed := state.warm_up.files.changed_collection():
        wire.send(engine, _refused(message, f"`{changed}` changed", stale=True))
        return
    state.warm_up.add_note_files(message, state.served)
    try:
        pid = _child_for(state, message, fds)
    except OSError as error:  # no memory, no process, no descriptor left: it can pass
        wire.send(engine, _refused(message, error.strerror or str(error), stale=False))
        return
    state.runs[pid] = MarkedRun.of(message["id"], message["env"])
    state.served += 1
    state.warm_up.role_ran(message.get("role", ""))
    _look_at_libraries(engine, state)


def _child_for(state: _State, message: wire.Message, fds: list[int]) -> int:
    """The pid of the run's child: the spare process, or a new fork.

    All that can raise is done before the fork: a child that raised would go on in this loop as a
    second host.
    """
    if len(fds) != _DESCRIPTORS:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    order = _order_of(message, fds)
    check_threads()
    spare, state.spare = state.spare, None
    if spare is not None and spare.hand_over(message, fds):
        return spare.pid
    pid = fork()
    if pid == 0:
        be_run_child(order, state.warm_up.parts)
    return pid


def _order_of(message: wire.Message, fds: list[int]) -> RunOrder:
    return RunOrder(
        run_id=message["id"],
        command=message["command"],
        environment=message["env"],
        cwd=message["cwd"],
        output=fds[0],
        report=fds[1],
        imports=message["imports"],
        inputs=tuple(message.get("inputs", ())),
        may_wait=bool(message.get("may_wait")),
        pages=message.get("pages", ""),
    )


def _look_at_libraries(engine: socket.socket, state: _State) -> None:
    """While the child works: is anything else that we hold out of date?"""
    if time.monotonic() - state.looked_at_libraries < _LOOK_AT_LIBRARIES_S:
        return
    state.looked_at_libraries = time.monotonic()
    if changed := state.warm_up.files.changed_library():
        wire.send(engine, {"op": "stale", "changed": changed})


def _reap(engine: socket.socket, state: _State) -> None:
    ended: list[tuple[MarkedRun, int, Any]] = []
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == 0:
            break
        state.kept.discard(pid)
        if state.spare is not None and pid == state.spare.pid:
            state.spare.sock.close()
            # Whatever killed it would kill the next one, too: tried again after another run.
            state.spare, state.idle_since = None, -SPARE_FOR_S
        if (run := state.runs.pop(pid, None)) is not None:
            state.idle_since = time.monotonic()
            ended.append((run, status, usage))
    spared = {*state.runs, *state.kept}
    if state.spare:
        spared.add(state.spare.pid)
    killed = [run for run, status, _ in ended if os.WIFSIGNALED(status)]
    state.kept |= end_leftovers([run for run, _, _ in ended], killed, spared)
    for run, status, usage in ended:
        with contextlib.suppress(BrokenPipeError):
            wire.send(engine, _ending(state, run.id, status, usage))


def _refused(order: wire.Message, reason: str, *, stale: bool) -> dict[str, Any]:
    """`stale`: what the host holds changed on disk, so it serves no other run either."""
    return {"op": "refused", "id": order["id"], "reason": reason, "stale": stale}


def _broken(error: ThreadsError, *, lasting: bool) -> dict[str, Any]:
    """`lasting`: the same files would give the same answer."""
    return {"op": "broken", "reason": str(error), "lasting": lasting}


def _ending(state: _State, run_id: str, status: int, usage: Any) -> dict[str, Any]:
    return {
        "op": "ended",
        "id": run_id,
        "code": os.waitstatus_to_exitcode(status),
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "max_rss_kb": usage.ru_maxrss,
        "served": state.served,
        "rss": processes.resident_bytes(),
    }
