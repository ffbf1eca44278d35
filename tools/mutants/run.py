"""Runs the tests against mutants: in forks of one process that has loaded everything.

In such a fork a mutant is put in place by giving a live function other code: milliseconds, and no
import is made again. What a module does when it is imported (constants, defaults of arguments)
cannot be changed that way: for such mutants a fork imports the engine and the tests anew, and only
what is neither is loaded already.

No mutant is judged by what another one left: the first process runs no test itself. Now and then a fork
runs all tests on unchanged code. A test that fails there would count mutants as dead that are not.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tools.mutants.children import Answer, in_forks
from tools.mutants.places import Mutant, functions, identity
from tools.mutants.usual import Judged, Usual, Watched

QUIET = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly", "-n0")
# Plugins of pytest, which it wants to load itself, and what a mutant may be in.
LOADED_ANEW = (
    *("rolecall", "rolecall_base", "rolecall_warm", "rolecall_dev", "tests", "tools"),
    *("conftest", "__main__"),
)
PLUGINS = ("pytest_asyncio", "xdist", "anyio", "axe_playwright_python")
IMPORT_LIMIT_S = 120.0
CONTROLS = 3
BY_IMPORT = "the import"
BY_HANGING = "a time limit"
BY_ENDING = "the end of its process"
TERMINAL = os.dup(2)


class MutantsError(Exception):
    """The figure cannot be computed."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: by what it died, and how many tests there were that might kill it."""

    mutant: Mutant
    killed_by: str | None
    tests: int


@dataclass(frozen=True)
class Trial:
    """One fork: which tests it runs, and the number of a mutant, or none to see that they pass."""

    tests: list[str]
    number: int | None = None


def verdicts(
    mutants: Sequence[Mutant], tests: Sequence[str], root: Path, at_once: int
) -> list[Verdict]:
    """Of each mutant one, in their order."""
    room = _Room(mutants, tests, root, at_once)
    [(_, hot)] = in_forks([room], lambda room: room.judge_in_loaded())
    answer = _said(hot)
    usual = Usual(**answer["usual"])
    killed_by = {int(number): name for number, name in answer["killed_by"].items()}
    trials = {trial.number: trial for trial in map(room.trial(usual), range(len(mutants)))}
    for name in answer["loaded"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    cold = [trials[number] for number in answer["cold"]]
    killed_by |= room.judge(cold, lambda trial: room.run_anew(trial, usual), usual)
    return [
        Verdict(mutant, killed_by.get(number), len(trials[number].tests))
        for number, mutant in enumerate(mutants)
    ]


def _said(answer: Answer) -> Any:
    if answer.signal is not None:
        raise MutantsError(f"the process that runs the tests ended by signal {answer.signal}")
    if "wrong" in answer.said:
        raise MutantsError(answer.said["wrong"])
    if answer.said.get("failed"):
        wrong = "\n\n".join(f"{test}\n{text}" for test, text in answer.said["failed"].items())
        raise MutantsError(f"tests fail without any mutant, so they judge nothing:\n\n{wrong}")
    return answer.said


class _Room:
    """The mutants of one room and its tests."""

    def __init__(
        self, mutants: Sequence[Mutant], tests: Sequence[str], root: Path, at_once: int
    ) -> None:
        self._mutants = mutants
        self._tests = tests
        self._root = root
        self._at_once = at_once
        self._files = {str(mutant.path) for mutant in mutants}
        self._originals = {file: _by_identity(_compiled(file)) for file in self._files}
        self._live: dict[tuple[str, str, int], list[FunctionType]] = {}

    def judge_in_loaded(self) -> dict[str, Any]:
        """In a process of its own: load all tests, and judge what needs no import."""
        _be_quiet()
        plugin = _Loop(self)
        pytest.main([*QUIET, f"--rootdir={self._root}", *self._tests], plugins=[plugin])
        return plugin.outcome

    def judge_items(self, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """With the tests loaded: what they do without mutants, and then with each."""
        self._live = _live_functions(self._files)
        by_id = {item.nodeid: item for item in items}
        gc.collect()
        gc.freeze()
        [(_, answer)] = in_forks([list(items)], lambda items: _watched(items, self._files))
        usual = Usual(**_said(answer))
        trials = [self.trial(usual)(number) for number in range(len(self._mutants))]
        hot = [trial for trial in trials if trial.tests and self._swaps(trial.number) is not None]
        known = {trial.number for trial in hot}
        return {
            "usual": asdict(usual),
            # In their order: `_asyncio` before `asyncio` makes two of it.
            "loaded": [name for name in sys.modules if _may_be_loaded(name)],
            "killed_by": self.judge(hot, lambda trial: self._run(trial, by_id, usual), usual),
            "cold": [trial.number for trial in trials if trial.tests and trial.number not in known],
        }

    def trial(self, usual: Usual) -> Callable[[int], Trial]:
        """By its number: which tests may notice a mutant."""

        def made(number: int) -> Trial:
            mutant = self._mutants[number]
            if self._changed(mutant) is None:
                return Trial(usual.tests_of_file(str(mutant.path)), number)
            tests = usual.tests_of(str(mutant.path), mutant.first_line, mutant.last_line)
            return Trial(tests, number)

        return made

    def judge(
        self, trials: Sequence[Trial], work: Callable[[Trial], str | None], usual: Usual
    ) -> dict[int, str | None]:
        """By what each mutant died; a control that dies is an error."""
        control = Trial(usual.all_tests())
        step = len(trials) // CONTROLS + 1
        mixed = [
            each
            for number, trial in enumerate(trials)
            for each in ([control, trial] if number % step == 0 else [trial])
        ]
        killed_by: dict[int, str | None] = {}
        for done, (trial, answer) in enumerate(in_forks(mixed, work, self._at_once)):
            killer = _killer(answer)
            if trial.number is not None:
                killed_by[trial.number] = killer
            elif killer is not None:
                raise MutantsError(f"`{killer}` failed without any mutant, so figures are wrong")
            _report(done + 1, len(mixed))
        return killed_by

    def run_anew(self, trial: Trial, usual: Usual) -> str | None:
        """In a process of its own: import the engine, with the mutant, and run tests."""
        _be_quiet()
        signal.setitimer(signal.ITIMER_REAL, IMPORT_LIMIT_S)
        if trial.number is not None:
            mutant = self._mutants[trial.number]
            sys.meta_path.insert(0, _Instead(str(mutant.path), mutant.code))
        plugin = Judged(usual)
        options = [*QUIET, "-x", f"--rootdir={self._root}", *trial.tests]
        code: int | None = None
        with contextlib.suppress(Exception):  # such as of a plugin that cannot import the engine
            code = pytest.main(options, plugins=[plugin])
        return None if code == pytest.ExitCode.OK else plugin.failed or BY_IMPORT

    def _run(self, trial: Trial, items: Mapping[str, pytest.Item], usual: Usual) -> str | None:
        """In a fork: put the mutant in place, and run tests until one fails."""
        if trial.number is not None:
            for function, code in self._swaps(trial.number) or ():
                function.__code__ = code
        chosen = [items[test] for test in trial.tests]
        judged = Judged(usual)
        chosen[0].config.pluginmanager.register(judged)
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except SystemError:  # Python 3.11 loses count where a failure was an endless recursion
                return judged.failed or item.nodeid
            if judged.failed:
                break
        return judged.failed

    def _changed(self, mutant: Mutant) -> CodeType | None:
        """The one function whose code is another; None where the module's own is."""
        originals = self._originals[str(mutant.path)]
        mutated = _by_identity(mutant.code)
        if originals.keys() != mutated.keys():
            return None
        changed = [code for key, code in mutated.items() if code != originals[key]]
        return changed[0] if len(changed) == 1 else None

    def _swaps(self, number: int | None) -> list[tuple[FunctionType, CodeType]] | None:
        """Which live functions get which code; None where that does not do."""
        code = None if number is None else self._changed(self._mutants[number])
        if code is None:
            return None
        live = self._live.get(identity(code), [])
        if not live or any(len(code.co_freevars) != len(f.__code__.co_freevars) for f in live):
            return None
        return [(function, code) for function in live]


class _Loop:
    """A plugin that has pytest load all tests, and then does something else than to run them."""

    def __init__(self, room: _Room) -> None:
        self.outcome: dict[str, Any] = {"failed": {"pytest": "no test was loaded"}}
        self._room = room

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcome = {"failed": {report.nodeid: report.longreprtext}}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not session.testsfailed and session.items:
            try:
                self.outcome = self._room.judge_items(session.items)
            except MutantsError as error:
                self.outcome = {"wrong": str(error)}
            except Exception:
                self.outcome = {"wrong": traceback.format_exc()}
        return True


class _Instead:
    """Finds one module of the engine, and gives it other code."""

    def __init__(self, path: str, code: CodeType) -> None:
        self._path = path
        self._code = code

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = Path(self._path)
        stem = file.parent.name if file.name == "__init__.py" else file.stem
        if name.rpartition(".")[2] != stem:
            return None
        found = PathFinder.find_spec(name, path)
        if found is None or found.origin != self._path:
            return None
        loader = _Loader(name, self._path)
        loader.code = self._code
        return spec_from_file_location(name, self._path, loader=loader)


class _Loader(SourceFileLoader):
    code: CodeType

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - it loads one module
        return self.code


def _watched(items: Sequence[pytest.Item], files: Collection[str]) -> dict[str, Any]:
    """In a fork: run all tests as they are."""
    watched = Watched(files)
    items[0].config.pluginmanager.register(watched)
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return asdict(watched.usual)


def _killer(answer: Answer) -> str | None:
    if answer.signal is None:
        killer: str | None = answer.said
        return killer
    return BY_HANGING if answer.signal == signal.SIGALRM else BY_ENDING


def _live_functions(files: Collection[str]) -> dict[tuple[str, str, int], list[FunctionType]]:
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for value in gc.get_objects():
        if type(value) is FunctionType and value.__code__.co_filename in files:
            found.setdefault(identity(value.__code__), []).append(value)
    if not found:
        raise MutantsError("no test imports what is to be changed: is another copy installed?")
    return found


def _by_identity(code: CodeType) -> dict[tuple[str, str, int], CodeType]:
    return {identity(function): function for function in functions(code)}


def _compiled(file: str) -> CodeType:
    return compile(Path(file).read_text(), file, "exec", dont_inherit=True)


def _may_be_loaded(name: str) -> bool:
    return name.partition(".")[0] not in (*LOADED_ANEW, *PLUGINS)


def _be_quiet() -> None:
    """What tests print is of no use here."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _report(done: int, all_of_them: int) -> None:
    if done % 50 == 0 or done == all_of_them:
        os.write(TERMINAL, f"  {done} of {all_of_them}\n".encode())
