"""Runs a task in the run child instead of a forked worker.

Ansible forks a worker for each task, even for `set_fact`. What such a worker may do to the play is
nothing: it gets copies, its output is caught, its result comes back through a pipe. So does this one:
the task is a copy, standard streams lead nowhere, results and callbacks are pickled and unpickled, and
working folder, umask, environment and signal handlers are put back. What is lost: an action plugin that
ends its process ends the run; therefore only actions that were read are let in (`ways`).

The seam is one name, `WorkerProcess` in `ansible.plugins.strategy`: whatever starts a worker there gets
either the real one or a `Desk`, which works at once when told to start.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing.process
import os
import pickle
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

from rolecall.runner.warm.hooks.surroundings import surroundings_kept
from rolecall.runner.warm.hooks.tally import Tally
from rolecall.runner.warm.hooks.ways import ActionFacts, Way, choose_action

_BUILTIN_STRATEGIES = ("linear", "free", "host_pinned")
_KEPT_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP)


class Stage:
    """The process's standard streams, and whether the play or a task is on.

    On the play's turn everything is real. On a task's turn descriptors 0 to 2 lead to /dev/null and
    Python's streams into a buffer, as in a worker; Display hands its words to the play.
    """

    def __init__(self, display: Any) -> None:
        self._display = display
        self._real = tuple(os.dup(number) for number in (0, 1, 2))
        self._null = os.open(os.devnull, os.O_RDWR)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._parent_mark: Any = object()

    @contextlib.contextmanager
    def task(self, queue: Any) -> Iterator[tuple[io.StringIO, io.StringIO]]:
        """Take the streams away from a task; yields where its prints went."""
        caught = (io.StringIO(), io.StringIO())
        closed = io.StringIO()
        closed.close()
        streams = (closed, *caught)
        self._enter_task(queue, streams)
        try:
            yield caught
        finally:
            self._enter_play()

    @contextlib.contextmanager
    def play(self) -> Iterator[None]:
        """Give the streams back while a callback of the running task is served."""
        queue, streams = self._display._final_q, (sys.stdin, sys.stdout, sys.stderr)
        self._enter_play()
        try:
            yield
        finally:
            self._enter_task(queue, streams)

    def _enter_task(self, queue: Any, streams: tuple[Any, Any, Any]) -> None:
        sys.stdin, sys.stdout, sys.stderr = streams
        for number in (0, 1, 2):
            os.dup2(self._null, number)  # inheritable: what a task starts has streams, too
        self._display._final_q = queue
        # `parent_process()` is how Display and callbacks tell a worker from the play.
        multiprocessing.process._parent_process = self._parent_mark  # type: ignore[attr-defined]

    def _enter_play(self) -> None:
        for number, real in enumerate(self._real):
            os.dup2(real, number, inheritable=False)
        sys.stdin, sys.stdout, sys.stderr = self._streams
        self._display._final_q = None
        multiprocessing.process._parent_process = None  # type: ignore[attr-defined]


class Messenger:
    """Stands in for the queue between worker and play: delivers at once, as copies."""

    def __init__(self, strategy: Any, stage: Stage, thread_locals: list[Any]) -> None:
        self._strategy = strategy
        self._stage = stage
        self._thread_locals = thread_locals

    def send_callback(self, method_name: str, task_result: Any) -> None:
        """Tell the callbacks, as the play's result thread does."""
        raw = self._as_delivered(task_result)
        with self._as_result_thread():
            self._strategy._tqm.send_callback(method_name, raw)

    def send_task_result(self, task_result: Any) -> None:
        """Lay the result where the strategy looks for it."""
        raw = self._as_delivered(task_result)
        with self._strategy._results_lock:
            self._strategy._results.append(raw)

    def send_display(self, method: str, *args: Any, **kwargs: Any) -> None:
        """Display in the play's name."""
        args, kwargs = pickle.loads(pickle.dumps((args, kwargs)))  # noqa: S301 - our own bytes
        with self._as_result_thread():
            getattr(self._strategy._display, method)(*args, **kwargs)

    def send_prompt(self, **_kwargs: Any) -> None:
        """Actions that ask are never run inline."""
        raise NotImplementedError("an inline task asked for input")

    def _as_delivered(self, task_result: Any) -> Any:
        wire = pickle.loads(pickle.dumps(task_result.as_wire_task_result()))  # noqa: S301 - our own
        return self._strategy._convert_wire_task_result_to_raw(wire)

    @contextlib.contextmanager
    def _as_result_thread(self) -> Iterator[None]:
        # In a forked play these calls come from a thread of their own, whose thread-locals know
        # nothing of what the task's thread was doing; awx_display names its events after them.
        kept = [(holder, holder._local) for holder in self._thread_locals]
        for holder, _local in kept:
            holder._local = threading.local()
        try:
            with self._stage.play():
                yield
        finally:
            for holder, local in kept:
                holder._local = local


class Desk:
    """A worker that is no process; has as much of `WorkerProcess` as a strategy touches."""

    pid = None
    exitcode: int | None = None

    def __init__(self, room: InlineRoom, strategy: Any, arguments: dict[str, Any]) -> None:
        self._room = room
        self._strategy = strategy
        self._arguments = arguments

    def is_alive(self) -> bool:
        """Done before anybody can ask."""
        return False

    def close(self) -> None:
        """Nothing to release."""

    def terminate(self) -> None:
        """Nothing to end."""

    def start(self) -> None:
        """Run the task, now."""
        try:
            self._room.run(self._strategy, self._arguments)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a worker that dies of anything is reported dead by its exit code
            self.exitcode = 1


class InlineRoom:
    """Decides for each task, and runs those that stay."""

    def __init__(self, core: Any, tally: Tally) -> None:
        self._core = core  # ansible-core's parts, see `core`
        self._tally = tally
        self._strategy: Any = None
        self._stage: Stage | None = None
        self.thread_locals: list[Any] = []

    def open_stage(self) -> None:
        """Take the run's streams as they are now; call once in the run child."""
        self._stage = Stage(self._core.display)

    def queueing(self, strategy: Any) -> None:
        """Remember whose `_queue_task` asks for the next worker."""
        self._strategy = strategy

    def worker(self, **arguments: Any) -> Any:
        """The stand-in for `WorkerProcess(...)`."""
        strategy = self._strategy
        choice = choose_action(self._facts(strategy, arguments))
        self._tally.task_begins(arguments["task"], choice)
        if choice.way is Way.STOCK:
            return self._core.WorkerProcess(**arguments)
        return Desk(self, strategy, arguments)

    def _facts(self, strategy: Any, arguments: dict[str, Any]) -> ActionFacts:
        task, variables = arguments["task"], arguments["task_vars"]
        name, collection, is_genuine = self._core.identify_action(task)
        connection = variables.get("ansible_connection", task.connection)
        return ActionFacts(
            action=name,
            collection=collection,
            is_genuine=is_genuine,
            is_alone=len(strategy._workers) == 1,
            is_async=bool(task.async_val),
            is_become=bool(task.become) or bool(variables.get("ansible_become")),
            is_local=str(connection) in ("local", "ansible.builtin.local", "ansible.legacy.local")
            and task.delegate_to in (None, "localhost", "127.0.0.1"),
            is_builtin_strategy=type(strategy).__module__
            in {f"ansible.plugins.strategy.{known}" for known in _BUILTIN_STRATEGIES},
            has_debugger=bool(strategy.debugger_active or task.debugger),
        )

    def run(self, strategy: Any, arguments: dict[str, Any]) -> None:
        """What `WorkerProcess._run` does, without the process."""
        if self._stage is None:
            raise RuntimeError("a task came before the run child opened its stage")
        task = _copy_of(arguments["task"])
        messenger = Messenger(strategy, self._stage, self.thread_locals)
        with (
            surroundings_kept(),
            _signal_handlers_kept(),
            self._stage.task(messenger) as caught,
            self._core.TaskContext(task),
        ):
            result = self._core.TaskExecutor(
                arguments["host"],
                task,
                _own_variables(arguments["task_vars"]),
                arguments["play_context"],
                arguments["loader"],
                arguments["shared_loader_obj"],
                messenger,
                arguments["variable_manager"],
            ).run()
            self._warn_of_prints(arguments["host"], task, caught)
            self._send(messenger, arguments["host"], task, result)

    def _warn_of_prints(self, host: Any, task: Any, caught: tuple[io.StringIO, ...]) -> None:
        for name, stream in zip(("stdout", "stderr"), caught, strict=True):
            if data := stream.getvalue():
                # Ansible's own words, so that both ways say the same.
                self._core.display.warning(
                    f"WorkerProcess for [{host}/{task}] errantly sent data directly to {name} "
                    f"instead of using Display:\n{textwrap.indent(data[:256], '    ')}\n",
                    formatted=True,
                )

    def _send(self, messenger: Messenger, host: Any, task: Any, result: Any) -> None:
        try:
            messenger.send_task_result(
                self._core.RawTaskResult(
                    host=host, task=task, return_data=result, task_fields=task.dump_attrs()
                )
            )
        except Exception as error:  # a result that cannot be pickled is told as the worker tells it
            messenger.send_task_result(
                self._core.RawTaskResult(
                    host=host,
                    task=task,
                    return_data=self._core.result_omitted(error),
                    task_fields={},
                )
            )


def _copy_of(task: Any) -> Any:
    # As ansible-core copies a task for each item of a loop.
    copy = task.copy(exclude_parent=True, exclude_tasks=True)
    copy._parent = task._parent
    return copy


def _own_variables(variables: Any) -> Any:
    own = variables.copy()
    # The one nested place that an action writes to: which interpreter it discovered.
    if isinstance(own.get("ansible_facts"), dict):
        own["ansible_facts"] = dict(own["ansible_facts"])
    return own


@contextlib.contextmanager
def _signal_handlers_kept() -> Iterator[None]:
    handlers = [(number, signal.getsignal(number)) for number in _KEPT_SIGNALS]
    try:
        yield
    finally:
        for number, handler in handlers:
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
