"""What a host does ahead of a run: all that every run would do again, and that is the same for each.

For which run: the next one of this host, of whatever CR and watch. So nothing that a run was given is
part of it, and a play is never begun before its order comes.

1. Before it serves (`warm_up`), the host imports Ansible, the Kubernetes client, and the plugins and
   modules that most plays use (`imports`), half a second of each new `ansible-playbook`. It puts the
   hooks in place (`hooks.seams`), and makes what Ansible makes at first use (`first_uses`).
2. While nothing runs, it finds out what was still missing (`WarmUp.learn`), and makes that, too. A play
   in a fork tells, once (`practice`); the roles that ran have files to parse and templates to compile
   (`role_files`); and runs note what they had to import (`noted_imports`).
3. Then it forks the process of the next run (`spare`), which copies the memory that every play writes
   to (`pages`), a third of a short play's time.

What it throws away when it was wrong: what is parsed is taken only where the text is the same; what
Ansible remembers of plugins and settings is put back whenever something was made
(`NewProcess.be_as_new`); an import that does harm is refused for good; a spare process that is not
ready is ended, and the run forked; and a host whose files changed is replaced. So a step that fails
costs speed, not a run.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
from pathlib import Path

from rolecall.runner.warm import processes, wire
from rolecall.runner.warm.hooks.discovery import share_discovery
from rolecall.runner.warm.hooks.kubeconfigs import read_kubeconfigs_fast
from rolecall.runner.warm.hooks.new_process import NewProcess
from rolecall.runner.warm.hooks.run_memory import remember_in_run
from rolecall.runner.warm.hooks.streams import StreamSettings
from rolecall.runner.warm.hooks.ways import IN_PROCESS_MODULES
from rolecall.runner.warm.host.child import HostParts, practice_play
from rolecall.runner.warm.host.first_uses import use_first
from rolecall.runner.warm.host.imports import (
    collection_modules,
    import_everything,
    import_what_it_names,
)
from rolecall.runner.warm.host.loaded_files import LoadedFiles
from rolecall.runner.warm.host.noted_imports import import_noted
from rolecall.runner.warm.host.pages import Range, written_down_in
from rolecall.runner.warm.host.practice import practise
from rolecall.runner.warm.host.role_files import RoleFiles
from rolecall.runner.warm.host.spare import Begin, SpareProcess

# So many runs write down which pages they wrote to: by then every role of most operators has run.
_WRITING_RUNS = 20


def warm_up(folder: Path, streams: StreamSettings, new: NewProcess) -> WarmUp:
    """All that is ready when the host begins to serve; `folder` is its own."""
    parts = HostParts.in_place(import_everything(new), streams, new)
    new.without_projects(lambda: _use_and_compile(parts))
    share_discovery(folder)
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


class WarmUp:
    """What the host has ready, and what it learns from runs."""

    def __init__(self, parts: HostParts, folder: Path) -> None:
        self.parts = parts
        self.files = LoadedFiles()
        self.files.note()
        self._imports, self._written_pages = folder / "imports", folder / "pages.json"
        self._practice_folder = folder / "practice"
        self._role_files = RoleFiles(parts.core, parts.parsed)
        self._pages: list[Range] | None = None  # None: no practice yet

    def add_note_files(self, order: wire.Message, served: int) -> None:
        """Say in an order where the run writes down what it had to make."""
        order["imports"] = str(self._imports)
        if served < _WRITING_RUNS:
            order["pages"] = str(self._written_pages)

    def role_ran(self, folder: str) -> None:
        self._role_files.role_ran(folder)

    def spare_process(self, engine: socket.socket, begin: Begin) -> SpareProcess:
        """Learn, and fork the next run's process. Raises `Interrupted` when an order comes."""
        self.learn(engine)
        self._pages = written_down_in(self._written_pages) or self._pages or []
        return SpareProcess.fork(self._pages, begin)

    def learn(self, engine: socket.socket) -> None:
        has_more = self._pages is None
        if self._pages is None:
            self._pages = practise(self._practice_folder, practice_play(self.parts), engine)
        has_more |= self._role_files.read_waiting()
        if import_noted(self._imports, self.parts.imports, engine):
            has_more = True
            with contextlib.suppress(BrokenPipeError):
                wire.send(engine, {"op": "grown", "rss": processes.resident_bytes()})
        if has_more:
            self.parts.new.be_as_new()
            self.files.note()
            gc.freeze()
