"""Runs a task in the run child instead of a forked worker.

Ansible forks a worker for each task, even for `set_fact`. What such a worker may do to the play is
nothing: it gets copies, its output is caught, its result comes back through a pipe. So does this one:
the task is a copy, standard streams are a worker's (`task_streams`), results and callbacks are pickled
and unpickled (`result_queue`), and working folder, umask, environment and signal handlers are put back.
What is lost: an action plugin that ends its process ends the run; therefore only actions that were read
are let in (`ways`).

The seam is one name, `WorkerProcess` in `ansible.plugins.strategy`: a strategy that starts a worker
gets either the real one or a `InlineWorker`, which works at once in its `start`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import io
import signal
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

from rolecall_warm.hooks.kept_state import process_state_kept
from rolecall_warm.hooks.planning import Planning
from rolecall_warm.hooks.tally import Tally
from rolecall_warm.hooks.task_streams import TaskStreams
from rolecall_warm.hooks.uses import Uses
from rolecall_warm.hooks.waits import RunWaits
from rolecall_warm.hooks.ways import ActionFacts, Way, choose_action

_BUILTIN_STRATEGIES = ("linear", "free", "host_pinned")
_KEPT_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP)


class InlineWorker:
    """A worker that is no process; has as much of `WorkerProcess` as a strategy touches."""

    pid = None
    exitcode: int | None = None

    def __init__(self, room: InlineRunner, strategy: Any, arguments: dict[str, Any]) -> None:
        self._room = room
        self._strategy = strategy
        self._arguments = arguments

    def is_alive(self) -> bool:
        """Done before the strategy can ask."""
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


class InlineRunner:
    """Decides for each task, and runs those that stay."""

    def __init__(
        self, core: Any, tally: Tally, uses: Uses, planning: Planning, waits: RunWaits
    ) -> None:
        self._core = core  # ansible-core's parts, see `core`
        self._tally = tally
        self._uses = uses
        self._planning = planning
        self._waits = waits
        self._strategy: Any = None
        self._streams: TaskStreams | None = None
        self.thread_locals: list[Any] = []

    def take_streams(self) -> None:
        """Take the run's streams as they are now; call once in the run child."""
        self._streams = TaskStreams(self._core.display, detaches=self._core.detaches_workers)

    def queue_task(
        self, original: Callable[..., None], strategy: Any, *args: Any, **more: Any
    ) -> None:
        """The stand-in for `StrategyBase._queue_task`, which asks for the next worker."""
        self._strategy = strategy
        original(strategy, *args, **more)

    def worker(self, *values: Any, **named: Any) -> Any:
        """The stand-in for `WorkerProcess(...)`."""
        strategy = self._strategy
        arguments = self._core.worker_arguments(values, named)
        self._planning.before_task(arguments["task"])
        facts = self._facts(strategy, arguments)
        self._waits.task_begins(is_alone=facts.is_alone)
        choice = choose_action(facts)
        self._tally.task_begins(arguments["task"], choice)
        self._uses.task_begins(arguments["task"], facts)
        if choice.way is Way.STOCK:
            return self._core.new_worker(values, named)
        return InlineWorker(self, strategy, arguments)

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
            asks_play=name in self._core.asking_actions,
        )

    def run(self, strategy: Any, arguments: dict[str, Any]) -> None:
        """What a worker does, without the process."""
        if self._streams is None:
            raise RuntimeError("a task came before the run child took its streams")
        streams = self._streams
        queue = self._core.new_result_queue(
            strategy, lambda act: self._as_result_thread(streams, act)
        )
        task = _copy_of(arguments["task"])
        own = {**arguments, "task": task, "task_vars": _own_variables(arguments["task_vars"])}
        with process_state_kept(), _signal_handlers_kept(), streams.task(queue) as caught:
            self._core.run_task(
                own, queue, lambda: self._warn_of_prints(arguments["host"], task, caught)
            )

    def _as_result_thread(self, streams: TaskStreams, act: Callable[[], object]) -> None:
        # In a forked play these calls come from a thread of their own, whose thread-locals know
        # nothing of what the task's thread was doing; awx_display names its events after them.
        kept = [(holder, holder._local) for holder in self.thread_locals]
        for holder, _local in kept:
            holder._local = threading.local()
        try:
            with streams.play():
                act()
        finally:
            for holder, local in kept:
                holder._local = local

    def _warn_of_prints(self, host: Any, task: Any, caught: tuple[io.StringIO, ...]) -> None:
        for name, stream in zip(("stdout", "stderr"), caught, strict=True):
            if data := stream.getvalue():
                # Ansible's own words, so that both ways say the same.
                self._core.display.warning(
                    f"WorkerProcess for [{host}/{task}] errantly sent data directly to {name} "
                    f"instead of using Display:\n{textwrap.indent(data[:256], '    ')}\n",
                    formatted=True,
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
    # Not `signal.getsignal`, which looks for a name of each handler: ten times as long.
    handlers = [(number, _signal.getsignal(number)) for number in _KEPT_SIGNALS]
    try:
        yield
    finally:
        for number, handler in handlers:
            if handler is not None and _signal.getsignal(number) != handler:
                signal.signal(number, handler)
