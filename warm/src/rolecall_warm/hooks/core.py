"""What the hooks need of ansible-core, asked in one place and in our words.

Everything here reads; what is *replaced* is in `seams`. Imported by the host only, never by the engine.
Here is what all releases have in common; where they differ, `core_2_18`, `core_2_19` and `core_2_21`
say it each in its own words.
"""

from __future__ import annotations

import abc
import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ansible.constants as C  # noqa: N812 - its name everywhere in Ansible
from ansible.executor import module_common
from ansible.executor.process.worker import WorkerProcess
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.connection.local import Connection as LocalConnection
from ansible.plugins.loader import action_loader, module_loader, module_utils_loader
from ansible.utils.display import Display
from ansible.vars import clean

from rolecall_warm.hooks.module_code import ModuleCode
from rolecall_warm.hooks.module_process import ModuleProcess, Response
from rolecall_warm.hooks.result_queue import AsResultThread, ResultQueue
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.templates import TemplateRules

_ANY_IMPLEMENTATION = ("",)
_PLAIN_PATH = re.compile(r"^[~\w./+-]+$", re.ASCII)
_INCLUDES = frozenset(C._ACTION_ALL_INCLUDES) | frozenset(C._ACTION_INCLUDE_ROLE)


class Core(abc.ABC):
    """ansible-core as the hooks see it."""

    # Whether a worker lets go of the play's standard streams: see `task_streams`.
    detaches_workers = True
    # Actions that ask the play for something while they run: an inline task *is* the play.
    asking_actions: frozenset[str] = frozenset()

    # How a file of a role is loaded.
    loads_files: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, streams: StreamSettings) -> None:
        self.display = Display()
        self.module_process = self.new_module_process(streams)
        self.executable = sys.executable
        self._plugins_folder = str(Path(_file_of("ansible.plugins.action")).parent.parent)
        self._core_module_utils = str(Path(_file_of("ansible.module_utils")).parent)
        self._asked_paths: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    # What differs between releases

    @abc.abstractmethod
    def new_module_process(self, streams: StreamSettings) -> ModuleProcess:
        """The process as a module of this release expects it."""

    @abc.abstractmethod
    def new_result_queue(self, strategy: Any, as_result_thread: AsResultThread) -> ResultQueue:
        """What stands in for the queue between worker and play."""

    @abc.abstractmethod
    def run_task(
        self, arguments: dict[str, Any], queue: ResultQueue, warn_of_prints: Callable[[], None]
    ) -> None:
        """What a worker does with its task, up to sending the result."""

    @abc.abstractmethod
    def encode_arguments(self, name: str, arguments: Any) -> bytes:
        """A module's arguments as the package carries them."""

    @abc.abstractmethod
    def finish_module(self, action: Any, response: Response) -> dict[str, Any]:
        """From what the module printed to the action's result, as `_execute_module` ends."""

    @abc.abstractmethod
    def has_extension(self, variables: Any) -> bool:
        """Whether modules run under coverage or a debugger."""

    @abc.abstractmethod
    def template_rules(self) -> TemplateRules:
        """Which environment compiles templates, and what its code depends on."""

    @property
    @abc.abstractmethod
    def clock(self) -> tuple[Any, str]:
        """Owner and name of the function `now` of templates."""

    @abc.abstractmethod
    def render(self, texts: Iterable[str], condition: str, variables: dict[str, Any]) -> None:
        """Render some texts of ours, so that what templating makes at first use is made."""

    @abc.abstractmethod
    def compile_texts(self, texts: Iterable[tuple[bool, str]]) -> None:
        """Compile templates and (True) conditions, render nothing; what is wrong is left out."""

    def tags_of(self, _text: str) -> Any:
        """What a text carries along, beside its letters."""
        return None

    def load_file(self, path: str) -> None:
        """Parse a file as a role's."""
        DataLoader().load_from_file(path, **self.loads_files)

    # About tasks

    def worker_arguments(self, _values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """What a strategy hands to a worker, by name."""
        return named

    def new_worker(self, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A worker as Ansible forks it."""
        return WorkerProcess(*values, **named)

    # About actions

    def identify_action(self, task: Any) -> tuple[str, str, bool]:
        """Short name, collection, and whether the plugin's file is where that collection lives."""
        action = task.action
        if action in _INCLUDES:
            return "include", "ansible.builtin", True
        plugin = action_loader.get(action, class_only=True, collection_list=task.collections)
        if plugin is None:
            return "normal", "ansible.builtin", True
        return self.identify_plugin(getattr(plugin, "_original_path", "") or "", "action")

    def identify_plugin(self, path: str, kind: str) -> tuple[str, str, bool]:
        """As `identify_action`, of any plugin, by the file that it is in."""
        folder, name, collection = _place_of(path)
        if folder == f"{self._plugins_folder}/{kind}":
            return name, "ansible.builtin", True
        return name, collection, bool(collection)

    @staticmethod
    def forget_callbacks() -> None:
        """Have no callback enabled by name."""
        C.CALLBACKS_ENABLED = []

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
        """Whether settings ask Ansible to keep its temporary files, or tracebacks."""
        shows_tracebacks = getattr(C, "DISPLAY_TRACEBACK", ["never"]) != ["never"]
        return bool(C.DEFAULT_KEEP_REMOTE_FILES or C.DEFAULT_DEBUG or shows_tracebacks)

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

    def remote_tmp(self, action: Any) -> str | None:
        """Where this connection's temporary folders go; None where only a shell can expand it."""
        path = str(action.get_shell_option("remote_tmp", default="~/.ansible/tmp"))
        if not _PLAIN_PATH.match(path):
            return None
        if path.startswith("~/"):
            path = f"~{action._get_remote_user() or ''}{path[1:]}"
        path = os.path.expanduser(path)  # noqa: PTH111 - unlike Path, it keeps what it cannot expand
        return path if path.startswith("/") and ".." not in path else None


def as_shell(action: Any, response: Response) -> dict[str, Any]:
    """What a module left, as `_low_level_execute_command` would return it."""
    stdout = action._strip_success_message(response.stdout)
    return {"rc": response.rc, "stdout": stdout, "stderr": response.stderr}


def tidied_result(display: Any, action: Any, data: dict[str, Any]) -> dict[str, Any]:
    """The end of `_execute_module` in releases whose results are dictionaries."""
    if data.pop("_ansible_suppress_tmpdir_delete", False):
        action._cleanup_remote_tmp = False
    if "results" in data and not isinstance(data["results"], list | tuple):
        data["ansible_module_results"] = data.pop("results")
        display.warning(
            "Found internal 'results' key in module return, renamed to 'ansible_module_results'."
        )
    clean.remove_internal_keys(data)
    for stream in ("stdout", "stderr"):
        if stream in data and f"{stream}_lines" not in data:
            data[f"{stream}_lines"] = (data.get(stream) or "").splitlines()
    return data


def _file_of(module: str) -> str:
    return os.path.realpath(str(importlib.import_module(module).__file__))


@functools.cache
def _place_of(path: str) -> tuple[str, str, str]:
    """Folder, name and collection of a plugin that was loaded from there, once and for all."""
    real = Path(os.path.realpath(path))
    return str(real.parent), real.stem, _collection_of(str(real))


def _collection_of(path: str) -> str:
    _before, found, rest = path.rpartition("/ansible_collections/")
    return ".".join(rest.split("/")[:2]) if found else ""


def _has_files(path: str) -> bool:
    try:
        return any(entry.name.endswith(".py") or entry.is_dir() for entry in os.scandir(path))
    except OSError:
        return False
