"""Runs a module from warm imports: in the run child, or in one fork of it.

Ansible packs a module with all it imports, writes the package to a folder, makes it executable, starts
a shell that starts a Python that unpacks and imports everything again: four programs and 200 ms and
more for work of 5 ms. What the module sees is kept the same: arguments through JSON both ways, its
result on standard output, folder, environment, streams, exit codes, warnings in its result. Rejected:
running the *package* in a warm process (it finds the wrong `ansible` already imported).

The seam is `ActionBase._execute_module`; a call that may not be fast goes to the original untouched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rolecall_warm.hooks.forked import run_forked
from rolecall_warm.hooks.in_process import run_in_process
from rolecall_warm.hooks.module_code import CompiledModules, ModuleCode
from rolecall_warm.hooks.module_process import ModuleCall
from rolecall_warm.hooks.planning import Planning
from rolecall_warm.hooks.tally import Tally
from rolecall_warm.hooks.uses import Uses
from rolecall_warm.hooks.waits import RunWaits
from rolecall_warm.hooks.ways import START_VARIABLES, Choice, ModuleFacts, Way, choose_module


class ModuleRunner:
    """Stands in for `_execute_module`, `_make_tmp_path` and `_remove_tmp_path` of every action."""

    def __init__(
        self,
        core: Any,
        tally: Tally,
        uses: Uses,
        compiled: CompiledModules,
        planning: Planning,
        waits: RunWaits,
    ) -> None:
        self._planning = planning
        self._waits = waits
        self._core = core
        self._tally = tally
        self._uses = uses
        self._compiled = compiled

    def execute(self, original: Any, action: Any, **asked: Any) -> dict[str, Any]:
        """Run a module the best way that is right."""
        began = time.perf_counter()
        name = asked["module_name"] or action._task.action
        with self._planning.module(action, lambda: self._known_as(action, name), asked) as planned:
            if planned is None:
                return {"skipped": True, "changed": False, "msg": f"a plan does not run `{name}`"}
            with self._waits.module(action):
                choice, result = self._execute(original, action, name, planned.asked)
            planned.ended(result)
        self._tally.module_ran(
            str(action._task._uuid), str(name), choice, time.perf_counter() - began
        )
        return result

    def _known_as(self, action: Any, name: str) -> str:
        """The full name of a new-style module; empty for the project's own, and any other program."""
        path = self._core.find_module(action, name)
        code = self._compiled.take(path) if path is not None else None
        return code.full_name if code is not None else ""

    def _execute(
        self, original: Any, action: Any, name: str, asked: dict[str, Any]
    ) -> tuple[Choice, dict[str, Any]]:
        plan = self._plan(action, name, asked)
        if isinstance(plan, Choice):
            return plan, original(action, **asked)
        return self._run(action, plan, asked)

    def _plan(self, action: Any, name: str, asked: dict[str, Any]) -> Choice | tuple[Any, ...]:
        """The choice STOCK, or what `_run` needs."""
        path = self._core.find_module(action, name)
        self._uses.module_runs(action, path, name, asked["module_args"] or action._task.args)
        if path is None:
            return Choice(Way.STOCK, "the module was not found")
        code = self._compiled.take(path)
        if code is None:
            return Choice(Way.STOCK, "not a new-style Python module")
        full_name = code.full_name or name
        variables = asked["task_vars"] if asked["task_vars"] is not None else {}
        choice = choose_module(self._facts(action, code, full_name, variables, asked))
        if choice.way is Way.STOCK:
            return choice
        return (code, variables, choice)

    def _facts(
        self, action: Any, code: ModuleCode, name: str, variables: Any, asked: dict[str, Any]
    ) -> ModuleFacts:
        core, task = self._core, action._task
        return ModuleFacts(
            name=name,
            is_new_python=True,
            can_respawn=code.can_respawn,
            is_async=bool(asked["wrap_async"] or task.async_val),
            is_become=bool(action._connection.become),
            is_local=core.is_plain_local(action._connection),
            has_timeout=bool(task.timeout),
            is_verbose=core.display.verbosity >= 3,
            is_kept=core.keeps_files(),
            has_extension=core.has_extension(variables),
            has_limit=core.has_file_limit(variables),
            has_module_utils=core.has_own_module_utils(),
            is_our_python=core.is_our_python(action, code, variables),
            changes_python=_changes_python(action),
        )

    def _run(
        self, action: Any, plan: tuple[Any, ...], asked: dict[str, Any]
    ) -> tuple[Choice, dict[str, Any]]:
        code, variables, choice = plan
        name = asked["module_name"] or action._task.action
        if not action._is_pipelining_enabled("new") and action._connection._shell.tmpdir is None:
            action._make_tmp_path()
        arguments = asked["module_args"] if asked["module_args"] is not None else action._task.args
        action._update_module_args(
            name, arguments, variables, ignore_unknown_opts=asked["ignore_unknown_opts"]
        )
        environment: dict[str, Any] = {}
        action._compute_environment_string(environment)
        action._used_interpreter = f"#!{self._core.executable}"
        call = ModuleCall(
            code=code,
            name=name,
            arguments=self._core.encode_arguments(name, arguments),
            environment={str(key): str(value) for key, value in environment.items()},
            cwd=action._loader.get_basedir(),
        )
        if choice.way is Way.IN_PROCESS:
            response = run_in_process(self._core.module_process, call)
        else:
            response = run_forked(self._core.module_process, call, self._waits)
        return choice, self._core.finish_module(action, response)

    def make_tmp_path(self, original: Any, action: Any, remote_user: str | None = None) -> str:
        """Make the task's folder without a shell where that comes to the same."""
        if not self._can_skip_shell(action):
            return str(original(action, remote_user))
        folder = self._core.remote_tmp(action)
        if folder is None:
            return str(original(action, remote_user))
        path = f"{folder}/{action._connection._shell._generate_temp_dir_name()}/"
        try:
            with _umask(0o077):
                if not os.path.isdir(folder):  # noqa: PTH112 - asked for each task
                    Path(folder).mkdir(parents=True, exist_ok=True)
                os.mkdir(path)  # noqa: PTH102
        except OSError:
            return str(original(action, remote_user))  # says what is wrong in Ansible's words
        action._cleanup_remote_tmp = True
        action._connection._shell.tmpdir = path
        return path

    def remove_tmp_path(
        self, original: Any, action: Any, tmp_path: Any, force: bool = False
    ) -> None:
        """Remove the task's folder without a shell where that comes to the same."""
        path = tmp_path
        if path is None and action._connection._shell.tmpdir:
            path = action._connection._shell.tmpdir
        if not (force or action._should_remove_tmp_path(path)):
            return
        if not self._can_skip_shell(action) or not _lies_in(path, self._core.remote_tmp(action)):
            original(action, tmp_path, force=force)
            return
        try:
            os.rmdir(path)  # noqa: PTH106 - few modules put anything there
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
        action._connection._shell.tmpdir = None

    def _can_skip_shell(self, action: Any) -> bool:
        core = self._core
        return bool(
            core.is_plain_local(action._connection)
            and not action._connection.become
            and core.display.verbosity < 3
            and not core.keeps_files()
        )


def _changes_python(action: Any) -> bool:
    if not action._task.environment:
        return False
    environment: dict[str, Any] = {}
    action._compute_environment_string(environment)
    return any(str(name).startswith(START_VARIABLES) for name in environment)


def _lies_in(path: Any, folder: str | None) -> bool:
    return (
        folder is not None and isinstance(path, str) and path.startswith(f"{folder}/ansible-tmp-")
    )


@contextlib.contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
