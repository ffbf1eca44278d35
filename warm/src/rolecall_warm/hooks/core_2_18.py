"""ansible-core 2.18: before data tagging, with workers that keep the play's streams."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.executor.process.worker import WorkerProcess
from ansible.executor.task_executor import TaskExecutor
from ansible.executor.task_result import TaskResult
from ansible.module_utils import basic
from ansible.module_utils.common import warnings as module_warnings
from ansible.module_utils.common.json import AnsibleJSONEncoder
from ansible.template import AnsibleEnvironment, Templar, _escape_backslashes

from rolecall_warm.hooks.core import Core, as_shell, tidied_result
from rolecall_warm.hooks.module_process import (
    ModuleCall,
    ModuleChange,
    ModuleProcess,
    Response,
)
from rolecall_warm.hooks.result_queue import AsResultThread, ResultQueue, as_sent
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.task_streams import own_output
from rolecall_warm.hooks.templates import TemplateRules

# In the order of `WorkerProcess.__init__`.
_WORKER_ARGUMENTS = (
    "final_q",
    "task_vars",
    "host",
    "task",
    "play_context",
    "loader",
    "variable_manager",
    "shared_loader_obj",
    "worker_id",
)
_CONDITION = "{%% set __cres = %s %%}{{ [true if __cres else false, __cres.__class__.__name__] }}"
# What of Jinja's environment the code of a template depends on.
_OPTIONS = (
    "block_start_string",
    "block_end_string",
    "variable_start_string",
    "variable_end_string",
    "comment_start_string",
    "comment_end_string",
    "line_statement_prefix",
    "line_comment_prefix",
    "trim_blocks",
    "lstrip_blocks",
    "newline_sequence",
    "keep_trailing_newline",
    "optimized",
    "autoescape",
)


class Core218(Core):
    """What the Go operator of today ships."""

    detaches_workers = False

    def new_module_process(self, streams: StreamSettings) -> ModuleProcess:
        """A process with the module's arguments and no warnings yet."""
        return ModuleProcess(streams, _module_view, _report_exception, _report_no_exit)

    def new_result_queue(self, strategy: Any, as_result_thread: AsResultThread) -> ResultQueue:
        """Results travel whole, and get host and task on arrival."""
        return _Queue(strategy, as_result_thread)

    def worker_arguments(self, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """They are not named here."""
        return {**dict(zip(_WORKER_ARGUMENTS, values, strict=False)), **named}

    def new_worker(self, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """One whose prints reach the play as those of a play that is not warm."""
        return _Worker(*values, **named)

    def run_task(
        self, arguments: dict[str, Any], queue: ResultQueue, _warn_of_prints: Callable[[], None]
    ) -> None:
        """What `WorkerProcess._run` does."""
        sender = _Sender(queue, arguments["host"], arguments["task"])
        with Path(os.devnull).open() as nothing:
            try:
                result = TaskExecutor(
                    arguments["host"],
                    arguments["task"],
                    arguments["task_vars"],
                    arguments["play_context"],
                    nothing,
                    arguments["loader"],
                    arguments["shared_loader_obj"],
                    queue,
                    arguments["variable_manager"],
                ).run()
                sender.send(result)
            except AnsibleConnectionFailure:
                sender.send_plain({"unreachable": True})
            except OSError:
                pass  # a worker ends without a word, too
            except Exception:
                failure = {"failed": True, "exception": traceback.format_exc(), "stdout": ""}
                sender.send_plain(failure)
                arguments["loader"].cleanup_all_tmp_files()

    def encode_arguments(self, _name: str, arguments: Any) -> bytes:
        """As the package has them; vaulted texts stay vaulted."""
        try:
            return json.dumps(
                {"ANSIBLE_MODULE_ARGS": arguments}, cls=AnsibleJSONEncoder, vault_to_text=True
            ).encode()
        except TypeError as error:
            raise AnsibleError(
                f"Unable to pass options to module, they must be JSON serializable: {error}"
            ) from error

    def finish_module(self, action: Any, response: Response) -> dict[str, Any]:
        """A dictionary, tidied up."""
        data: dict[str, Any] = action._parse_returned_data(as_shell(action, response))
        return tidied_result(self.display, action, data)

    def has_extension(self, _variables: Any) -> bool:
        """Coverage, asked for by its variable."""
        return bool(os.environ.get("_ANSIBLE_COVERAGE_CONFIG"))

    def template_rules(self) -> TemplateRules:
        """Jinja's own environment with Ansible's filters, which computes what is constant."""
        return TemplateRules(AnsibleEnvironment, _code_depends_on, computes_constants=True)

    @property
    def clock(self) -> tuple[Any, str]:
        """A method of the templar, which gives it to its environment."""
        return Templar, "_now_datetime"

    def render(self, texts: Iterable[str], condition: str, variables: dict[str, Any]) -> None:
        """Through a templar."""
        templar = Templar(loader=None, variables=variables)
        for text in (*texts, _CONDITION % condition):
            templar.template(text)

    def compile_texts(self, texts: Iterable[tuple[bool, str]]) -> None:
        """Through a templar's environment, which knows conditions as templates only."""
        env = Templar(loader=None, variables={}).environment
        for is_condition, text in texts:
            source = _CONDITION % text if is_condition else text
            try:
                env.from_string(_escape_backslashes(source, env))
            except Exception:  # noqa: S112 - its run says what is wrong with it
                continue


class _Worker(WorkerProcess):  # type: ignore[misc]
    """A worker in a play whose own standard output is buffered in any case (`streams`)."""

    def run(self) -> None:
        sys.stdout = own_output(sys.stdout)
        super().run()


class _Sender:
    """Sends the result of a task, whatever it is."""

    def __init__(self, queue: ResultQueue, host: Any, task: Any) -> None:
        self._queue, self._host, self._task = queue, host, task

    def send(self, result: Any) -> None:
        """A result; one that cannot be pickled is reported as the worker reports it."""
        try:
            self.send_plain(result)
        except Exception as error:
            failure = {"failed": True, "msg": f"{error}", "exception": traceback.format_exc()}
            self._queue.send_task_result(self._host.name, self._task._uuid, failure, {})

    def send_plain(self, result: Any) -> None:
        self._queue.send_task_result(
            self._host.name, self._task._uuid, result, task_fields=self._task.dump_attrs()
        )


class _Queue(ResultQueue):
    def send_callback(self, method_name: str, *args: Any, **kwargs: Any) -> None:
        args, kwargs = as_sent((args, kwargs))
        for arg in args:
            if isinstance(arg, TaskResult):
                self.strategy.normalize_task_result(arg)
                break
        self.call_alone(lambda: self.strategy._tqm.send_callback(method_name, *args, **kwargs))

    def send_task_result(self, *args: Any, **kwargs: Any) -> None:
        result = args[0] if isinstance(args[0], TaskResult) else TaskResult(*args, **kwargs)
        sent = as_sent(result)
        self.lay_down(lambda: self.strategy.normalize_task_result(sent))


def _module_view(call: ModuleCall) -> list[ModuleChange]:
    return [
        (module_warnings, "_global_warnings", []),
        (module_warnings, "_global_deprecations", []),
        (basic, "_ANSIBLE_ARGS", call.arguments),
    ]


def _report_exception(error: Exception) -> None:
    """As the interpreter does: a traceback on standard error, from the module's own code on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") != "__main__":
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__, file=sys.stderr)
    raise SystemExit(1)


def _report_no_exit() -> None:
    print('{"msg": "New-style module did not handle its own exit", "failed": true}')  # noqa: T201
    raise SystemExit(1)


def _code_depends_on(env: Any) -> tuple[Any, ...]:
    extensions = tuple(sorted(env.extensions))
    return (type(env).__name__, extensions, *(getattr(env, name) for name in _OPTIONS))
