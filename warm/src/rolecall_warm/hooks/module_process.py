"""The process as a module expects it: arguments waiting, nothing of the controller in sight.

`ansible.module_utils` is one package for controller and modules, and remembers whom it serves. With
that wrong a module's warnings go to the terminal and vanish from its result. What must be changed for
it differs between releases of ansible-core: the adapter says (`core_2_19` ...).
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rolecall_warm.hooks.client_memory import renew_client
from rolecall_warm.hooks.endings import status_of
from rolecall_warm.hooks.import_notes import ImportNotes
from rolecall_warm.hooks.module_code import ModuleCode
from rolecall_warm.hooks.streams import StreamSettings

# What holds it, its name, and what a module finds there.
ModuleChange = tuple[Any, str, Any]


@dataclass(frozen=True, slots=True)
class ModuleCall:
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


class ModuleProcess:
    """Turns `ansible.module_utils` from the controller's into a module's, and back."""

    def __init__(
        self,
        streams: StreamSettings,
        view: Callable[[ModuleCall], list[ModuleChange]],
        report_exception: Callable[[Exception], None],
        report_no_exit: Callable[[], None],
    ) -> None:
        self.streams = streams
        self.imports = ImportNotes()
        self._view = view
        self._report_exception = report_exception
        self._report_no_exit = report_no_exit

    @contextlib.contextmanager
    def entered(self, call: ModuleCall) -> Iterator[None]:
        """The module's view, until left."""
        changes = self._view(call)
        before = [(holder, name, getattr(holder, name)) for holder, name, _value in changes]
        for holder, name, value in changes:
            setattr(holder, name, value)
        try:
            yield
        finally:
            for holder, name, value in before:
                setattr(holder, name, value)

    def execute(self, call: ModuleCall) -> int:
        """Run the module's code as `__main__`; returns its exit status. Nothing it raises escapes."""
        status = 0
        try:
            try:
                self._execute(call)
                self._report_no_exit()
            except Exception as error:
                self._report_exception(error)
        except SystemExit as leaving:
            status = status_of(leaving)
        return status

    def _execute(self, call: ModuleCall) -> None:
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


def in_environment(call: ModuleCall) -> None:
    """Take the call's folder and environment as a shell would; for a process of its own."""
    os.environ.update(call.environment)
    try:
        os.chdir(call.cwd)
        os.environ["PWD"] = os.getcwd()  # noqa: PTH109
    except OSError:
        os.chdir("/")
    renew_client()
