"""The process as a module expects it: arguments waiting, nothing of the controller in sight.

`ansible.module_utils` is one package for controller and modules, and knows by a flag which it serves.
With the flag wrong a module's warnings go to the terminal and vanish from its result.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible.module_utils import _internal, basic
from ansible.module_utils._internal import _traceback
from ansible.module_utils._internal._ansiballz import _loader
from ansible.module_utils.common import warnings as module_warnings

from rolecall.runner.warm.hooks.client_memory import renew_client
from rolecall.runner.warm.hooks.import_notes import ImportNotes
from rolecall.runner.warm.hooks.module_code import ModuleCode
from rolecall.runner.warm.hooks.streams import StreamHabits

_PROFILE = "legacy"


@dataclass(frozen=True, slots=True)
class Call:
    """One module call, ready to run."""

    code: ModuleCode
    name: str
    arguments: bytes  # JSON, as the package would carry it
    environment: dict[str, str]
    cwd: str


@dataclass(frozen=True, slots=True)
class Response:
    """What a module's process left: as a shell would report it."""

    rc: int
    stdout: str
    stderr: str


class ModuleWorld:
    """Turns `ansible.module_utils` from the controller's into a module's, and back."""

    def __init__(self, habits: StreamHabits) -> None:
        self.habits = habits
        self.imports = ImportNotes()

    @contextlib.contextmanager
    def entered(self, call: Call) -> Iterator[None]:
        """The module's view, until left."""
        changes: list[tuple[Any, str, Any]] = [
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
        before = [(holder, name, getattr(holder, name)) for holder, name, _value in changes]
        for holder, name, value in changes:
            setattr(holder, name, value)
        try:
            yield
        finally:
            for holder, name, value in before:
                setattr(holder, name, value)

    def execute(self, call: Call) -> int:
        """Run the module's code as `__main__`; returns its exit status. Nothing it raises escapes."""
        status = 0
        try:
            try:
                self._execute(call)
                # Its own words: a module must print its result and exit.
                raise RuntimeError("New-style module did not handle its own exit.")
            except Exception as error:  # told in the module's result, as the package's loader does
                _loader._handle_exception(error, _PROFILE)
        except SystemExit as leaving:
            status = _status_of(leaving)
        return status

    def _execute(self, call: Call) -> None:
        main = types.ModuleType("__main__")
        main.__file__ = call.code.path
        main.__dict__.update(
            _module_fqn=call.code.import_name,
            _modlib_path="",
            __package__=call.code.import_name.rpartition(".")[0],
        )
        before_main, before_argv = sys.modules["__main__"], sys.argv
        sys.modules["__main__"] = main
        sys.argv = [call.code.path]
        try:
            exec(call.code.code, main.__dict__)  # noqa: S102 - a module is code to run
        finally:
            sys.modules["__main__"] = before_main
            sys.argv = before_argv


def in_environment(call: Call) -> None:
    """Take the call's folder and environment as a shell would; for a process of its own."""
    os.environ.update(call.environment)
    try:
        os.chdir(call.cwd)
        os.environ["PWD"] = os.getcwd()  # noqa: PTH109
    except OSError:
        os.chdir("/")
    renew_client()


def _import_nothing(_module_name: str, /) -> None:
    return None


def _status_of(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    print(leaving.code, file=sys.stderr)  # noqa: T201 - what the interpreter does with such a code
    return 1
