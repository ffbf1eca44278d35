"""The way in to what is done ahead of a run: before the host serves, and then while nothing runs.

The package says what the steps are, and what becomes of what turns out wrong.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from rolecall_base import wire
from rolecall_warm.ahead.first_uses import use_first
from rolecall_warm.ahead.imports import (
    collection_modules,
    import_everything,
    import_what_it_names,
)
from rolecall_warm.ahead.noted_imports import NotedImports
from rolecall_warm.ahead.pages import Range, written_down_in
from rolecall_warm.ahead.practice import Practice
from rolecall_warm.ahead.role_files import RoleFiles
from rolecall_warm.ahead.spare import Begin, SpareProcess
from rolecall_warm.child import HostParts, practice_play
from rolecall_warm.hooks.discovery import share_discovery
from rolecall_warm.hooks.gone_kinds import look_again_for_gone_kinds
from rolecall_warm.hooks.kubeconfigs import read_kubeconfigs_fast
from rolecall_warm.hooks.new_process import NewProcess
from rolecall_warm.hooks.run_memory import remember_in_run
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.ways import IN_PROCESS_MODULES
from rolecall_warm.loaded_files import LoadedFiles

# So many runs write down which pages they wrote to: by then every role of most operators has run.
_WRITING_RUNS = 20


def warm_up(folder: Path, streams: StreamSettings, new: NewProcess) -> WarmUp:
    """All that is ready when the host begins to serve; `folder` is its own."""
    parts = HostParts.in_place(import_everything(new), streams, new)
    new.without_projects(lambda: _use_and_compile(parts))
    share_discovery(folder)
    look_again_for_gone_kinds()
    read_kubeconfigs_fast()
    remember_in_run()
    new.be_as_new()
    os.chdir(folder)  # the one that it was started in may go, and Ansible parses nothing in none
    return WarmUp(parts, folder)


def _use_and_compile(parts: HostParts) -> None:
    from ansible.plugins import loader  # noqa: PLC0415 - imported before, in its order

    use_first(parts.core)
    for path in collection_modules(loader):
        code = parts.modules.take(path)
        if code is not None and code.full_name in IN_PROCESS_MODULES:
            import_what_it_names(path)


class StepAhead(Protocol):
    """One thing that the host does ahead, again and again."""

    def make(self, engine: socket.socket) -> bool:
        """Make what is missing; whether there was any. Raises `Interrupted` when an order comes."""


def take_all(steps: Iterable[StepAhead], engine: socket.socket, settle: Callable[[], None]) -> None:
    """Take each step; settle what was made, also where an order comes before the last one is taken."""
    has_made = False
    try:
        for step in steps:
            has_made |= step.make(engine)
    finally:
        if has_made:
            settle()


class WarmUp:
    """What the host has ready, and what it learns from runs."""

    def __init__(self, parts: HostParts, folder: Path) -> None:
        self.parts = parts
        self.files = LoadedFiles()
        self.files.note()
        self._practice = Practice(folder / "practice", practice_play(parts))
        self._role_files = RoleFiles(parts.core, parts.parsed)
        self._imports = NotedImports(folder / "imports", parts.imports)
        self._written_pages = folder / "pages.json"
        self._pages: list[Range] = []
        self._steps: tuple[StepAhead, ...] = (self._practice, self._role_files, self._imports)

    def add_note_files(self, order: wire.Message, served: int) -> None:
        """Say in an order where the run writes down what it had to make."""
        order["imports"] = str(self._imports.file)
        if served < _WRITING_RUNS:
            order["pages"] = str(self._written_pages)

    def role_ran(self, folder: str) -> None:
        self._role_files.role_ran(folder)

    def spare_process(self, engine: socket.socket, begin: Begin) -> SpareProcess:
        """Take all steps, and fork the next run's process. Raises `Interrupted` as they do."""
        self.take_steps(engine)
        written = written_down_in(self._written_pages)
        self._pages = written or self._pages or self._practice.pages
        return SpareProcess.fork(self._pages, begin)

    def take_steps(self, engine: socket.socket) -> None:
        take_all(self._steps, engine, self._settle)

    def _settle(self) -> None:
        self.parts.new.be_as_new()
        self.files.note()
        gc.freeze()
