"""ansible-core 2.21: results are objects of their own, and some actions ask the play while they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible._internal import _task
from ansible.errors import AnsibleError
from ansible.executor.task_executor import TaskExecutor
from ansible.inventory.host import Host
from ansible.playbook.task import Task

from rolecall_warm.hooks.core import as_shell
from rolecall_warm.hooks.core_2_19 import OMITTED, Core219
from rolecall_warm.hooks.module_process import Response
from rolecall_warm.hooks.result_queue import AsResultThread, ResultQueue, as_sent

_PROFILE = "legacy"


class Core221(Core219):
    """Like 2.19 but for what becomes of a task."""

    # Both change the inventory through a call to the play, which serves it between two tasks.
    asking_actions = frozenset({"add_host", "group_by"})

    def new_result_queue(self, strategy: Any, as_result_thread: AsResultThread) -> ResultQueue:
        """Results travel with host and task, which are named on the way."""
        return _Queue(strategy, as_result_thread)

    def run_task(
        self, arguments: dict[str, Any], queue: ResultQueue, warn_of_prints: Callable[[], None]
    ) -> None:
        """What `WorkerProcess.run` and `_run` do."""
        host, task = arguments["host"], arguments["task"]
        with _task.TaskContext.create(
            task=task, task_vars=arguments["task_vars"], host_name=host.name
        ):
            task.squash()
            result = TaskExecutor(
                host,
                arguments["play_context"],
                arguments["loader"],
                arguments["shared_loader_obj"],
                queue,
                arguments["variable_manager"],
            ).run()
            result.finalize_registered_values()
            warn_of_prints()
            task.ignore_errors = result.ignore_errors
            task.ignore_unreachable = result.ignore_unreachable
            try:
                queue.send_task_result(host, task, result)
            except Exception as error:  # one that cannot be pickled: as the worker reports it
                _send_omitted(queue, host, task, error)

    def finish_module(self, action: Any, response: Response) -> dict[str, Any]:
        """A result object, returned as a dictionary."""
        result = action._parse_returned_data(as_shell(action, response), _PROFILE)
        if result.suppress_tmpdir_delete:
            action._cleanup_remote_tmp = False
        result.remove_internal_keys()
        returned: dict[str, Any] = result.as_result_dict(for_round_trip=True)
        return returned


class _Queue(ResultQueue):
    def send_callback(self, method_name: str, host: Any, task: Any, utr: Any) -> None:
        sent = as_sent(_task.WireTaskResult.create(host=host, task=task, utr=utr))
        self.call_alone(lambda: self.strategy._tqm.send_callback(method_name, self._arrived(sent)))

    def send_task_result(self, host: Any, task: Any, utr: Any) -> None:
        sent = as_sent(_task.WireTaskResult.create(host=host, task=task, utr=utr))
        self.lay_down(lambda: self._arrived(sent))

    def _arrived(self, sent: Any) -> Any:
        return self.strategy._convert_wire_task_result_to_host_task_result(sent)


def _send_omitted(queue: Any, host: Any, task: Any, cause: Exception) -> None:
    try:
        raise AnsibleError(OMITTED) from cause
    except AnsibleError as error:
        result = _task.UnifiedTaskResult.create_from_action_exception(error)
    result.finalize_registered_values()
    bare = Task()
    bare._uuid = task._uuid
    queue.send_task_result(Host(name=host.name), bare, result)
