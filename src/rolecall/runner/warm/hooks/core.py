"""What the hooks need of ansible-core, asked in one place and in our words.

Everything here reads; what is *replaced* is in `seams`. Imported by the host only, never by the engine.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import ansible.constants as C  # noqa: N812 - its name everywhere in Ansible
from ansible._internal import _task
from ansible._internal._ansiballz._builder import ExtensionManager
from ansible._internal._errors import _error_utils
from ansible.errors import AnsibleError
from ansible.executor import module_common
from ansible.executor.process.worker import WorkerProcess
from ansible.executor.task_executor import TaskExecutor
from ansible.executor.task_result import _RawTaskResult
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.plugins.connection.local import Connection as LocalConnection
from ansible.plugins.loader import action_loader, module_loader, module_utils_loader
from ansible.utils.display import Display
from ansible.vars.clean import remove_internal_keys

from rolecall.runner.warm.hooks.module_code import ModuleCode
from rolecall.runner.warm.hooks.module_world import ModuleWorld, Response
from rolecall.runner.warm.hooks.streams import StreamHabits

_ANY_IMPLEMENTATION = ("",)
_PLAIN_PATH = re.compile(r"^[~\w./+-]+$", re.ASCII)
_INCLUDES = frozenset(C._ACTION_ALL_INCLUDES) | frozenset(C._ACTION_INCLUDE_ROLE)


class Core:
    """ansible-core as the hooks see it."""

    def __init__(self, habits: StreamHabits) -> None:
        self.display = Display()
        self.WorkerProcess = WorkerProcess
        self.TaskExecutor = TaskExecutor
        self.RawTaskResult = _RawTaskResult
        self.TaskContext = _task.TaskContext
        self.module_world = ModuleWorld(habits)
        self.executable = sys.executable
        self._action_folder = str(Path(_file_of("ansible.plugins.action")).parent)
        self._core_module_utils = str(Path(_file_of("ansible.module_utils")).parent)
        self._asked_paths: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    # About actions

    def identify_action(self, task: Any) -> tuple[str, str, bool]:
        """Short name, collection, and whether the plugin's file is where that collection lives."""
        action = task.action
        if action in _INCLUDES:
            return "include", "ansible.builtin", True
        plugin = action_loader.get(action, class_only=True, collection_list=task.collections)
        if plugin is None:
            return "normal", "ansible.builtin", True
        path = Path(os.path.realpath(getattr(plugin, "_original_path", "") or ""))
        if str(path.parent) == self._action_folder:
            return path.stem, "ansible.builtin", True
        collection = _collection_of(str(path))
        return path.stem, collection, bool(collection)

    def result_omitted(self, cause: Exception) -> dict[str, Any]:
        """The result of a task whose own result could not be sent."""
        try:
            raise AnsibleError("Task result omitted due to queue send failure.") from cause
        except AnsibleError as error:
            result: dict[str, Any] = _error_utils.result_dict_from_exception(error)
            return result

    # About modules

    def find_module(self, action: Any, name: str) -> str | None:
        """The module's file, as `_configure_module` would choose it."""
        if tuple(action._connection.module_implementation_preferences) != _ANY_IMPLEMENTATION:
            return None
        found = module_loader.find_plugin_with_context(
            name, "", collection_list=action._task.collections
        )
        return found.plugin_resolved_path if found.resolved else None

    @staticmethod
    def is_new_style(source: bytes) -> bool:
        """Whether Ansible would pack these bytes as a Python module."""
        if module_common._is_binary(source) or module_common.REPLACER in source:
            return False
        return bool(module_common.NEW_STYLE_PYTHON_MODULE_RE.search(source))

    @staticmethod
    def is_plain_local(connection: Any) -> bool:
        """Whether commands run as this user on this machine, through the plain shell plugin."""
        return type(connection) is LocalConnection and connection._shell._load_name == "sh"

    @staticmethod
    def keeps_files() -> bool:
        """Whether somebody wants to look at what Ansible leaves behind."""
        return bool(C.DEFAULT_KEEP_REMOTE_FILES or C.DEFAULT_DEBUG)

    @staticmethod
    def has_extension(variables: Any) -> bool:
        """Whether modules run under coverage or a debugger."""
        return bool(ExtensionManager.create(task_vars=variables).extension_names)

    @staticmethod
    def has_file_limit(variables: Any) -> bool:
        """Whether modules get a limit of open files."""
        limit = C.config.get_config_value("PYTHON_MODULE_RLIMIT_NOFILE", variables=variables)
        return bool(limit != 0)

    def has_own_module_utils(self) -> bool:
        """Whether anything could stand in for ansible-core's module_utils."""
        paths = tuple(module_utils_loader._get_paths(subdirs=False))
        return any(_has_files(path) for path in self._foreign(paths))

    def _foreign(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Those that are not ansible-core's own; asked for each module, new with each role."""
        if self._asked_paths[0] != paths:
            core = self._core_module_utils
            foreign = tuple(path for path in paths if os.path.realpath(path) != core)
            self._asked_paths = (paths, foreign)
        return self._asked_paths[1]

    @staticmethod
    def is_our_python(action: Any, code: ModuleCode, variables: Any) -> bool:
        """Whether the module would run under this very interpreter."""
        use = variables
        if action._task.delegate_to:
            use = variables.get("ansible_delegated_vars", {}).get(action._task.delegate_to, {})
        asked, *arguments = code.shebang.split() or ["/usr/bin/python"]
        try:
            _shebang, interpreter = module_common._get_shebang(
                asked, use, action._templar, arguments, remote_is_local=False
            )
        except module_common.InterpreterDiscoveryRequiredError:
            return False
        return not arguments and str(interpreter) == sys.executable

    @staticmethod
    def encode_arguments(name: str, arguments: Any) -> bytes:
        """Arguments as the package carries them."""
        encoder = get_module_encoder("legacy", Direction.CONTROLLER_TO_MODULE)
        try:
            return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=encoder).encode()
        except TypeError as error:
            raise AnsibleError(f"Failed to serialize arguments for the {name!r} module.") from error

    def remote_tmp(self, action: Any) -> str | None:
        """Where this connection's temporary folders go; None where only a shell can tell."""
        path = str(action.get_shell_option("remote_tmp", default="~/.ansible/tmp"))
        if not _PLAIN_PATH.match(path):
            return None
        if path.startswith("~/"):
            path = f"~{action._get_remote_user() or ''}{path[1:]}"
        path = os.path.expanduser(path)  # noqa: PTH111 - unlike Path, it keeps what it cannot expand
        return path if path.startswith("/") and ".." not in path else None

    def finish_module(self, action: Any, response: Response) -> dict[str, Any]:
        """From what the module printed to the action's result, as `_execute_module` ends."""
        text = {
            "rc": response.rc,
            "stdout": action._strip_success_message(response.stdout),
            "stderr": response.stderr,
        }
        data: dict[str, Any] = action._parse_returned_data(text, "legacy")
        if data.pop("_ansible_suppress_tmpdir_delete", False):
            action._cleanup_remote_tmp = False
        if "results" in data and not isinstance(data["results"], list | tuple):
            data["ansible_module_results"] = data.pop("results")
            self.display.warning(
                "Found internal 'results' key in module return, "
                "renamed to 'ansible_module_results'."
            )
        remove_internal_keys(data)
        for stream in ("stdout", "stderr"):
            if stream in data and f"{stream}_lines" not in data:
                data[f"{stream}_lines"] = (data.get(stream) or "").splitlines()
        return data


def _file_of(module: str) -> str:
    return os.path.realpath(str(sys.modules[module].__file__))


def _collection_of(path: str) -> str:
    _before, found, rest = path.rpartition("/ansible_collections/")
    return ".".join(rest.split("/")[:2]) if found else ""


def _has_files(path: str) -> bool:
    try:
        return any(entry.name.endswith(".py") or entry.is_dir() for entry in os.scandir(path))
    except OSError:
        return False
