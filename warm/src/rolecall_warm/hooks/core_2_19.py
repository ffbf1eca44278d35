"""ansible-core 2.19 and 2.20."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any

from ansible._internal import _task
from ansible._internal._ansiballz._builder import ExtensionManager
from ansible._internal._errors import _error_utils
from ansible._internal._templating import _jinja_bits
from ansible._internal._templating._engine import TemplateEngine, TemplateOptions
from ansible.errors import AnsibleError
from ansible.executor import task_result
from ansible.executor.task_executor import TaskExecutor
from ansible.module_utils import _internal, basic
from ansible.module_utils._internal import _traceback
from ansible.module_utils._internal._ansiballz import _loader
from ansible.module_utils._internal._datatag import AnsibleTagHelper
from ansible.module_utils.common import warnings as module_warnings
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.template import trust_as_template

from rolecall_warm.hooks.core import Core, as_shell, tidied_result
from rolecall_warm.hooks.module_process import (
    ModuleCall,
    ModuleChange,
    ModuleProcess,
    Response,
)
from rolecall_warm.hooks.result_queue import AsResultThread, ResultQueue, as_sent
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.templates import TemplateRules

_PROFILE = "legacy"
_OPTIONS = _jinja_bits._TEMPLATE_OVERRIDE_FIELD_NAMES
_CONDITION = TemplateOptions(escape_backslashes=False, preserve_trailing_newlines=False)
OMITTED = "Task result omitted due to queue send failure."


class Core219(Core):
    """The first release with data tagging; modules and templates of 2.21 are like it, too."""

    loads_files = MappingProxyType({"trusted_as_template": True})

    def new_module_process(self, streams: StreamSettings) -> ModuleProcess:
        """A process in which `ansible.module_utils` serves a module, not the controller."""
        return ModuleProcess(streams, _module_view, _report_exception, _report_no_exit)

    def new_result_queue(self, strategy: Any, as_result_thread: AsResultThread) -> ResultQueue:
        """Results travel as thin copies that name host and task."""
        return _Queue(strategy, as_result_thread)

    def run_task(
        self, arguments: dict[str, Any], queue: ResultQueue, warn_of_prints: Callable[[], None]
    ) -> None:
        host, task = arguments["host"], arguments["task"]
        with _task.TaskContext(task):
            result = TaskExecutor(
                host,
                task,
                arguments["task_vars"],
                arguments["play_context"],
                arguments["loader"],
                arguments["shared_loader_obj"],
                queue,
                arguments["variable_manager"],
            ).run()
            warn_of_prints()
            try:
                queue.send_task_result(_raw(host, task, result, task.dump_attrs()))
            except Exception as error:  # one that cannot be pickled: as the worker reports it
                queue.send_task_result(_raw(host, task, _result_omitted(error), {}))

    def encode_arguments(self, name: str, arguments: Any) -> bytes:
        """By the encoder of the module's profile."""
        encoder = get_module_encoder(_PROFILE, Direction.CONTROLLER_TO_MODULE)
        try:
            return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=encoder).encode()
        except TypeError as error:
            raise AnsibleError(f"Failed to serialize arguments for the {name!r} module.") from error

    def finish_module(self, action: Any, response: Response) -> dict[str, Any]:
        """A dictionary, tidied up."""
        data: dict[str, Any] = action._parse_returned_data(as_shell(action, response), _PROFILE)
        return tidied_result(self.display, action, data)

    def has_extension(self, variables: Any) -> bool:
        """By the extensions that would go into the package."""
        return bool(ExtensionManager.create(task_vars=variables).extension_names)

    def template_rules(self) -> TemplateRules:
        """Jinja's environment as Ansible's own engine has it."""
        return TemplateRules(_jinja_bits.AnsibleEnvironment, _code_depends_on)

    @property
    def clock(self) -> tuple[Any, str]:
        """Taken from its module by each environment that is made."""
        return _jinja_bits, "_now"

    def tags_of(self, text: str) -> Any:
        """Its origin, and whether its templates are trusted."""
        return AnsibleTagHelper.tags(text)

    def render(self, texts: Iterable[str], condition: str, variables: dict[str, Any]) -> None:
        """Through the engine."""
        engine = TemplateEngine(variables=variables)
        for text in texts:
            engine.template(trust_as_template(text))
        engine.evaluate_conditional(trust_as_template(condition))

    def compile_texts(self, texts: Iterable[tuple[bool, str]]) -> None:
        """Through the engine, which has conditions compiled as expressions."""
        engine = TemplateEngine(variables={})
        for is_condition, text in texts:
            trusted = trust_as_template(text)
            try:
                if is_condition:
                    engine._compile_expression(trusted, _CONDITION)
                else:
                    engine._compile_template(trusted, TemplateOptions.DEFAULT)
            except Exception:  # noqa: S112 - its run says what is wrong with it
                continue


class _Queue(ResultQueue):
    def send_callback(self, method_name: str, task_result: Any) -> None:
        sent = as_sent(task_result.as_wire_task_result())
        self.call_alone(lambda: self.strategy._tqm.send_callback(method_name, self._arrived(sent)))

    def send_task_result(self, task_result: Any) -> None:
        sent = as_sent(task_result.as_wire_task_result())
        self.lay_down(lambda: self._arrived(sent))

    def _arrived(self, sent: Any) -> Any:
        return self.strategy._convert_wire_task_result_to_raw(sent)


def _raw(host: Any, task: Any, result: Any, fields: dict[str, Any]) -> Any:
    return task_result._RawTaskResult(host=host, task=task, return_data=result, task_fields=fields)


def _result_omitted(cause: Exception) -> dict[str, Any]:
    try:
        raise AnsibleError(OMITTED) from cause
    except AnsibleError as error:
        result: dict[str, Any] = _error_utils.result_dict_from_exception(error)
        return result


def _module_view(call: ModuleCall) -> list[ModuleChange]:
    return [
        (_internal, "is_controller", False),
        (_internal, "get_controller_serialize_map", dict),
        (_internal, "import_controller_module", _import_nothing),
        (_traceback, "_is_traceback_enabled", _traceback._is_module_traceback_enabled),
        (_traceback, "_module_tracebacks_enabled_events", None),
        (module_warnings, "_global_warnings", {}),
        (module_warnings, "_global_deprecations", {}),
        (basic, "_ANSIBLE_ARGS", call.arguments),
        (basic, "_ANSIBLE_PROFILE", _PROFILE),
        (basic, "_PARSED_MODULE_ARGS", None),
    ]


def _import_nothing(_module_name: str, /) -> None:
    return None


def _report_exception(error: Exception) -> None:
    """In the module's result, as the package's loader does; ends by SystemExit."""
    _loader._handle_exception(error, _PROFILE)


def _report_no_exit() -> None:
    """In Ansible's words: a module must print its result and exit."""
    raise RuntimeError("New-style module did not handle its own exit.")


def _code_depends_on(env: Any) -> tuple[Any, ...] | None:
    if env._debuggable_template_source:
        return None
    context = _jinja_bits._TemplateCompileContext.current(optional=True)
    escapes = None if context is None else context.escape_backslashes
    return (escapes, env.overlayed, *(getattr(env, name) for name in _OPTIONS))
