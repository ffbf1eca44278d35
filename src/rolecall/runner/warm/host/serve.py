"""The host's loop: requests from the engine in, forks out, endings back.

One thread, one `select`, no event loop: whatever else ran here at the moment of a fork would be a lock
that the child inherits locked. The host runs no role's code; what it holds is code and caches keyed by
content. It ends when the engine hangs up, and takes its children along.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible.release

from rolecall.runner.warm import processes, wire
from rolecall.runner.warm.hooks import seams
from rolecall.runner.warm.hooks.discovery import share_discovery
from rolecall.runner.warm.hooks.kubeconfigs import read_kubeconfigs_fast
from rolecall.runner.warm.hooks.streams import StreamHabits
from rolecall.runner.warm.hooks.ways import IN_PROCESS_MODULES
from rolecall.runner.warm.host.child import RunOrder, Warmth, be_run_child, rehearsal_of
from rolecall.runner.warm.host.dress import rehearse_in_fork
from rolecall.runner.warm.host.hot_pages import Range, told_in
from rolecall.runner.warm.host.learned import take_over
from rolecall.runner.warm.host.preload import Held, collection_modules, load_imports, preload
from rolecall.runner.warm.host.rehearse import rehearse
from rolecall.runner.warm.host.role_texts import RoleTexts
from rolecall.runner.warm.host.trial import Interrupted
from rolecall.runner.warm.host.understudy import GOES_AFTER_S, STANDS_BY_AFTER_S, Understudy

# So many runs tell which pages they wrote to: by then every role of most operators has run.
_TELLING_RUNS = 20
_PAGES = "pages.json"
_IMPORTS = "imports"
# How often the files outside collections are looked at, right after a fork.
_FAR_LOOK_S = 1.0


@dataclass
class _State:
    """What the loop knows; `runs` are the children that live."""

    warmth: Warmth
    folder: Path
    held: Held
    hot_pages: list[Range] | None = None  # None: not rehearsed yet
    texts: RoleTexts = field(default_factory=RoleTexts)
    runs: dict[int, str] = field(default_factory=dict)
    # Processes that a run left behind on purpose (async without poll); not ours to end.
    kept: set[int] = field(default_factory=set)
    served: int = 0
    is_retiring: bool = False
    looked_far: float = 0.0
    understudy: Understudy | None = None
    idle_since: float = 0.0


def serve(engine: socket.socket, folder: Path, habits: StreamHabits) -> None:
    """Warm up, say so, and serve until the engine hangs up; `folder` is the host's own."""
    processes.set_name("rolecall-warm")
    processes.become_subreaper()
    if problems := seams.check():
        wire.send(engine, _greeting(problems))
        return
    state = _warm_up(folder, habits)
    wire.send(engine, _greeting([]))
    wake = _wake_on_child()
    gc.collect()
    gc.freeze()
    try:
        while state.runs or not state.is_retiring:
            ready, _, _ = select.select([engine.fileno(), wake], [], [], _wait_s(state))
            if not ready:
                _have_ready(engine, state)
            if wake in ready:
                os.read(wake, 4096)
                _reap(engine, state)
            if engine.fileno() in ready and not _take_order(engine, state):
                return
    finally:
        _dismiss(state)
        for pid in state.runs:
            processes.kill_tree(pid)


def _wait_s(state: _State) -> float | None:
    """How long there may be nothing to do until the guard is changed; None: for ever."""
    if state.runs or state.is_retiring:
        return None
    if state.understudy is None:
        # Dismissed after a long rest: the next run brings the next one.
        rested = time.monotonic() - state.idle_since > GOES_AFTER_S
        return None if rested else STANDS_BY_AFTER_S
    return max(0.0, state.understudy.since + GOES_AFTER_S - time.monotonic())


def _have_ready(engine: socket.socket, state: _State) -> None:
    """Nothing happened for a while: prepare for the next run, or let go who stood by in vain."""
    if state.understudy is not None:
        _dismiss(state)
        return
    try:
        _learn(engine, state)
    except Interrupted:
        return
    state.hot_pages = told_in(state.folder / _PAGES) or state.hot_pages or []
    warmth = state.warmth
    state.understudy = Understudy.engage(
        state.hot_pages, lambda message, fds: be_run_child(_order_of(message, fds), warmth)
    )


def _learn(engine: socket.socket, state: _State) -> None:
    """Rehearse, once; read the roles' texts; import what runs imported. And hold it all for good."""
    has_more = state.hot_pages is None
    if state.hot_pages is None:
        state.hot_pages = rehearse_in_fork(state.folder, rehearsal_of(state.warmth), engine)
    has_more |= state.texts.read_waiting()
    if take_over(state.folder / _IMPORTS, state.warmth.imports, engine):
        has_more = True
        with contextlib.suppress(BrokenPipeError):
            wire.send(engine, {"op": "learned", "rss": processes.resident_bytes()})
    if has_more:
        state.held.learn()
        gc.freeze()


def _dismiss(state: _State) -> None:
    if state.understudy is not None:
        state.understudy.dismiss()
        state.understudy = None


def _warm_up(folder: Path, habits: StreamHabits) -> _State:
    warmth = Warmth.prepare(preload(), habits)
    rehearse()
    from ansible.plugins import loader  # noqa: PLC0415 - imported by `preload`, in its order

    for path in collection_modules(loader):
        code = warmth.shelf.take(path)
        if code is not None and code.full_name in IN_PROCESS_MODULES:
            load_imports(path)
    share_discovery(folder)
    read_kubeconfigs_fast()
    held = Held()
    held.learn()
    now = time.monotonic()
    return _State(warmth, folder, held, looked_far=now, idle_since=now)


def _greeting(problems: list[str]) -> dict[str, Any]:
    import ansible.constants as C  # noqa: N812, PLC0415

    return {
        "op": "ready",
        "pid": os.getpid(),
        "core": ansible.release.__version__,
        "config_file": str(C.CONFIG_FILE or ""),
        "problems": problems,
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
    if message["op"] == "run":
        _begin(engine, state, message, fds)
    elif message["op"] == "retire":
        state.is_retiring = True
        _dismiss(state)
    for fd in fds:
        os.close(fd)
    return True


def _begin(engine: socket.socket, state: _State, message: wire.Message, fds: list[int]) -> None:
    if changed := state.held.changed_near():
        wire.send(engine, {"op": "refused", "id": message["id"], "changed": changed})
        return
    message["imports"] = str(state.folder / _IMPORTS)
    if state.served < _TELLING_RUNS:
        message["pages"] = str(state.folder / _PAGES)
    standing_by, state.understudy = state.understudy, None
    if standing_by is not None and standing_by.take_over(message, fds):
        pid = standing_by.pid
    else:
        pid = os.fork()
        if pid == 0:
            be_run_child(_order_of(message, fds), state.warmth)
    state.runs[pid] = message["id"]
    state.served += 1
    state.texts.ran(message.get("role", ""))
    _look_far(engine, state)


def _order_of(message: wire.Message, fds: list[int]) -> RunOrder:
    return RunOrder(
        run_id=message["id"],
        command=message["command"],
        environment=message["env"],
        cwd=message["cwd"],
        output=fds[0],
        report=fds[1],
        imports=message["imports"],
        pages=message.get("pages", ""),
    )


def _look_far(engine: socket.socket, state: _State) -> None:
    """While the child works: is anything else that we hold out of date?"""
    if time.monotonic() - state.looked_far < _FAR_LOOK_S:
        return
    state.looked_far = time.monotonic()
    if changed := state.held.changed_far():
        wire.send(engine, {"op": "stale", "changed": changed})


def _reap(engine: socket.socket, state: _State) -> None:
    died_badly = False
    ended = []
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == 0:
            break
        state.kept.discard(pid)
        if state.understudy is not None and pid == state.understudy.pid:
            state.understudy.mourn()
            # Whatever killed it would kill the next one, too; after another run, we shall see.
            state.understudy, state.idle_since = None, -GOES_AFTER_S
        if (run_id := state.runs.pop(pid, None)) is not None:
            state.idle_since = time.monotonic()
            died_badly = died_badly or os.WIFSIGNALED(status)
            ended.append((run_id, status, usage))
    _settle_orphans(state, end_them=died_badly)
    for run_id, status, usage in ended:
        with contextlib.suppress(BrokenPipeError):
            wire.send(engine, _ending(state, run_id, status, usage))


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


def _settle_orphans(state: _State, *, end_them: bool) -> None:
    """What a run child left behind is ours now: end it where the child could not have meant it."""
    spared = {*state.runs, *state.kept}
    if state.understudy:
        spared.add(state.understudy.pid)
    if end_them:
        processes.kill_below(os.getpid(), spared)
    else:
        state.kept |= set(processes.children_of(os.getpid())) - spared
